// How many memories of each kind and status an agent has; an agentId of null: all agents together.
// Returns: kind, status STRING, memories INTEGER
MATCH (agent:Agent)
WHERE agent.id STARTS WITH coalesce($agentId, '')
  AND ($agentId IS NULL OR agent.id = $agentId)
CALL (agent) {
  MATCH (memory:Memory {agentId: agent.id})
  // What is deleted while it is counted has neither.
  WHERE memory.id IS NOT NULL AND memory.kind IS NOT NULL AND memory.status IS NOT NULL
  RETURN memory.kind AS kind, memory.status AS status, count(memory) AS memories
}
RETURN kind, status, sum(memories) AS memories
ORDER BY kind, status
