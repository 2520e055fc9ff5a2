// Ids of memories that pass a filter by source, where they are few: at most $limit are read.
// Returns: ids LIST<STRING>, read INTEGER
MATCH (memory:Memory {agentId: $agentId, source: $source})
WHERE memory.occurredAt IS NOT NULL
WITH memory
LIMIT $limit
RETURN collect(CASE WHEN memory.status IN ['active', 'stale'] THEN memory.id END) AS ids, count(memory) AS read
