// What retrieval knows of every active memory, for trying profiles outside the database. At most $limit.
// Returns: id STRING, session, source STRING or null, occurredAt, accessedAt ZONED DATETIME, importance INTEGER,
// embedding LIST<FLOAT> or null
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL
WITH memory
LIMIT $limit
RETURN
  memory.id AS id,
  memory.session AS session,
  memory.source AS source,
  memory.occurredAt AS occurredAt,
  memory.lastAccessedAt AS accessedAt,
  memory.importance AS importance,
  memory.embedding AS embedding
