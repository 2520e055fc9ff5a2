// Delete some of an agent's memories, the deepest first, so that none is left that rests on nothing.
// Returns: deleted INTEGER
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
WITH memory
ORDER BY memory.depth DESC
LIMIT $limit
DETACH DELETE memory
RETURN count(memory) AS deleted
