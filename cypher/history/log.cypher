// An agent's log of changes, latest first, from before a place in it.
// before INTEGER or null: a seq; verbs LIST<STRING> or null: only these
// ends, holds LIST<STRING>: verbs that end a memory, and after which it is held again
// Returns: seq, ordinal INTEGER, verb, by, reason STRING, at ZONED DATETIME, runId STRING or null, memory MAP (without
// its vector), labels LIST<STRING>, replacement MAP {id, text} or null (what that change put in its place), undone BOOLEAN
MATCH (change:Change {agentId: $agentId})
WHERE change.seq < coalesce($before, 9223372036854775807)
  AND change.ordinal IS NOT NULL
  AND ($verbs IS NULL OR change.verb IN $verbs)
WITH change
ORDER BY change.agentId DESC, change.seq DESC, change.ordinal DESC
LIMIT $limit
MATCH (change)-[:OF]->(memory:Memory)
OPTIONAL MATCH (memory)<-[edge:SUPERSEDES WHERE edge.at = change.at]-(newer:Memory)
WITH change, memory, head(collect(newer {.id, .text})) AS replacement
RETURN
  change.seq AS seq,
  change.ordinal AS ordinal,
  change.verb AS verb,
  change.at AS at,
  change.by AS by,
  change.reason AS reason,
  change.runId AS runId,
  memory {.*, embedding: null} AS memory,
  labels(memory) AS labels,
  replacement,
  change.verb IN $ends AND EXISTS {
    (memory)<-[:OF]-(later:Change)
    WHERE later.seq > change.seq AND later.verb IN $holds
  } AS undone
ORDER BY seq DESC, ordinal DESC
