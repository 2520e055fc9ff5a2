// The first few ids that begin with a prefix, an exact match first.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id STARTS WITH $prefix
RETURN memory.id AS id
ORDER BY memory.id <> $prefix, memory.id
LIMIT 11
