// The latest of all that happened to an agent's memories: how each came about, every change of belief, and what turned
// stale, once for all its causes of one moment.
// before ZONED DATETIME or null: only what happened earlier
// ends LIST<STRING>: verbs of the log that end a memory
// Returns: at ZONED DATETIME, stale BOOLEAN, change MAP or null (of a stale memory: what ended the ground), memory MAP
// (without its vector), labels LIST<STRING>, other MAP {id, text} or null (the ground at fault, or what replaced the
// memory); latest first
CALL () {
  MATCH (memory:Memory {agentId: $agentId})
    USING INDEX SEEK memory:Memory(agentId, id)
  WHERE memory.id IS NOT NULL
  RETURN memory.recordedAt AS at, 0 AS step, memory, null AS other, null AS change
  UNION ALL
  MATCH (change:Change {agentId: $agentId})
  WHERE change.seq IS NOT NULL AND change.ordinal IS NOT NULL AND change.verb <> 'reflect'
  MATCH (change)-[:OF]->(memory:Memory)
  // Not what a value of a key that arrived later, of an earlier time, has decided otherwise.
  WHERE NOT change.verb IN ['key:superseded', 'key:restored'] OR NOT EXISTS {
    (memory)<-[:OF]-(anew:Change)
    WHERE anew.verb IN ['key:superseded', 'key:restored'] AND anew.seq > change.seq AND anew.at < change.at
  }
  OPTIONAL MATCH (memory)<-[edge:SUPERSEDES WHERE edge.at = change.at]-(newer:Memory)
  RETURN change.at AS at, 1 AS step, memory, head(collect(newer)) AS other, change
  UNION ALL
  MATCH (memory:Memory {agentId: $agentId})-[because:STALE_BECAUSE]->(ground:Memory)
    USING INDEX SEEK memory:Memory(agentId, id)
  WHERE memory.id IS NOT NULL
  RETURN because.since AS at, 2 AS step, memory, head(collect(ground)) AS other, null AS change
}
WITH at, step, memory, other, change
WHERE $before IS NULL OR at < $before
ORDER BY at DESC, step DESC, change.seq DESC, change.ordinal DESC, memory.depth DESC, memory.id DESC
LIMIT $limit
RETURN
  at,
  step = 2 AS stale,
  CASE step
    WHEN 2 THEN head(COLLECT {
      MATCH (other)<-[:OF]-(ending:Change)
      WHERE ending.at = at AND ending.verb IN $ends
      RETURN ending {.*} AS ending
      ORDER BY ending.seq DESC
      LIMIT 1
    })
    ELSE change {.*}
  END AS change,
  memory {.*, embedding: null} AS memory,
  labels(memory) AS labels,
  other {.id, .text} AS other
ORDER BY at DESC, step DESC, change.seq DESC, change.ordinal DESC, memory.depth DESC, memory.id DESC
