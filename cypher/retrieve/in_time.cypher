// Ids of memories that pass a filter by time, where they are few: at most $limit are read.
// Returns: ids LIST<STRING>, read INTEGER
UNWIND ['active', 'stale'] AS status
MATCH (memory:Memory {agentId: $agentId, status: status})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt >= coalesce($since, datetime({year: -999999999}))
  AND memory.occurredAt < coalesce($until, datetime({year: 999999999}))
WITH memory
LIMIT $limit
RETURN collect(CASE WHEN memory.status IN ['active', 'stale'] THEN memory.id END) AS ids, count(memory) AS read
