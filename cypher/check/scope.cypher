// Scope: HEARD_FROM is the only relationship between the memories, runs and changes of different agents.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})-[edge]-(other)
WHERE memory.id IS NOT NULL
  AND other.agentId <> memory.agentId AND type(edge) <> 'HEARD_FROM'
RETURN memory.agentId AS agentId, memory.id AS id, 'has ' + type(edge) + ' with another agent' AS problem
