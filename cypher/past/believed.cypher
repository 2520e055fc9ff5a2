// What an agent held of memories at a moment, by the log of changes and by the causes of staleness.
// ends MAP: the status that each verb of the log leaves; turns LIST<STRING>: all verbs that end or hold again
// Returns: id, status STRING, endedAt ZONED DATETIME or null; those that it did not know yet are left out
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.recordedAt <= $asOf
WITH memory, head(COLLECT {
  MATCH (memory)<-[:OF]-(change:Change)
  WHERE change.at <= $asOf AND change.verb IN $turns
  RETURN change
  ORDER BY change.seq DESC, change.ordinal DESC
  LIMIT 1
}) AS last
RETURN
  memory.id AS id,
  CASE
    WHEN memory.status = 'forgotten' THEN 'forgotten'
    WHEN $ends[last.verb] IS NOT NULL THEN $ends[last.verb]
    WHEN memory.missingGrounds > 0 OR EXISTS {
      (memory)-[because:STALE_BECAUSE]->()
      WHERE because.since <= $asOf AND coalesce(because.until > $asOf, true)
    } THEN 'stale'
    ELSE 'active'
  END AS status,
  CASE
    WHEN memory.status = 'forgotten' THEN memory.endedAt
    WHEN $ends[last.verb] = 'archived' THEN null
    WHEN $ends[last.verb] IS NOT NULL THEN last.at
  END AS endedAt
