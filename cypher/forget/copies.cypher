// What other agents hold of the same text, or heard from this memory.
// Returns: agentId, id STRING
MATCH (memory:Memory {agentId: $agentId, id: $id})
CALL (memory) {
  MATCH (agent:Agent)
  WHERE agent.id <> $agentId
  MATCH (copy:Memory {agentId: agent.id, textHash: memory.textHash})
  RETURN copy
  UNION
  MATCH (memory)<-[:HEARD_FROM]-(copy:Memory)
  RETURN copy
}
WITH DISTINCT copy
WHERE copy.status <> 'forgotten'
RETURN copy.agentId AS agentId, copy.id AS id
ORDER BY agentId, id
