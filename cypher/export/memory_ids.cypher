// The ids of a page of an agent's memories, in order.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id > $after
RETURN memory.id AS id
ORDER BY memory.agentId, memory.id
LIMIT $limit
