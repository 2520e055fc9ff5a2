// Ids of memories that pass a filter by place, where they are few: at most $limit are read.
// Returns: ids LIST<STRING>, read INTEGER
MATCH (memory:Memory {agentId: $agentId, place: $place})
USING INDEX SEEK memory:Memory(agentId, place, occurredAt)
WHERE memory.occurredAt IS NOT NULL
WITH memory
LIMIT $limit
RETURN collect(CASE WHEN memory.status IN ['active', 'stale'] THEN memory.id END) AS ids, count(memory) AS read
