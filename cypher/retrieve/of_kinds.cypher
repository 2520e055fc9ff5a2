// Ids of memories that pass a filter by kind, where they are few: at most $limit are read.
// Returns: ids LIST<STRING>, read INTEGER
UNWIND $kinds AS kind
MATCH (memory:Memory {agentId: $agentId, kind: kind})
USING INDEX SEEK memory:Memory(agentId, kind, occurredAt)
WHERE memory.occurredAt IS NOT NULL
WITH memory
LIMIT $limit
RETURN collect(CASE WHEN memory.status IN ['active', 'stale'] THEN memory.id END) AS ids, count(memory) AS read
