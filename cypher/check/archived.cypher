// What was put away is an observation that no memory rests on.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId, status: 'archived'})
WHERE memory.occurredAt IS NOT NULL
  AND (
    NOT memory:Observation
    OR EXISTS { (memory)<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(:Memory) }
  )
RETURN memory.agentId AS agentId, memory.id AS id, 'was put away, but something rests on it' AS problem
