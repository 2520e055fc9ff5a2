// The values of keys by which it is decided what was believed of them from a moment on, in their order: all of them, or,
// where nothing happened but that values arrived in a span of time at that moment: those in the span, those before it
// that were believed after that moment, and those after it that came before the first one that has stood ever since.
// spans LIST<MAP>: key STRING, since, until ZONED DATETIME; arrived BOOLEAN
// own LIST<STRING>: verbs of the log by which a value ceases to stand, or stands again
// Returns: key, id STRING, recordedAt ZONED DATETIME, standing BOOLEAN or null (neither retracted nor corrected; a
// forgotten one stands), forgotten BOOLEAN, settled BOOLEAN (nothing of it can have changed)
UNWIND $spans AS span
WITH span, head(COLLECT {
  MATCH (later:Memory {agentId: $agentId, key: span.key})
  USING INDEX SEEK later:Memory(agentId, key, occurredAt)
  WHERE $arrived
    AND later.occurredAt > span.until
    AND (later.held OR later.endedBy = 'key')
    AND NOT EXISTS { (later)<-[:OF]-(change:Change) WHERE change.verb IN $own }
  RETURN later
  ORDER BY later.recordedAt
  LIMIT 1
}) AS first
MATCH (memory:Memory {agentId: $agentId, key: span.key})
USING INDEX SEEK memory:Memory(agentId, key, occurredAt)
WHERE memory.occurredAt IS NOT NULL
  AND CASE
    WHEN NOT $arrived THEN true
    WHEN memory.occurredAt > span.until THEN first IS NULL OR memory = first OR memory.recordedAt < first.recordedAt
    WHEN memory.occurredAt >= span.since THEN true
    ELSE memory.held OR EXISTS {
      (memory)<-[:OF]-(change:Change)
      WHERE change.at > $now AND change.at > memory.recordedAt
    }
  END
RETURN
  span.key AS key,
  memory.id AS id,
  memory.recordedAt AS recordedAt,
  memory.held OR memory.endedBy IN ['key', 'forget'] AS standing,
  memory.status = 'forgotten' AS forgotten,
  $arrived AND memory.occurredAt > span.until AS settled
ORDER BY key, memory.occurredAt, memory.keyRank, id
