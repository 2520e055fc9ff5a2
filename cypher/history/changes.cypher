// The log of one memory: every change of belief about it.
// Returns: seq, ordinal INTEGER, verb STRING, at ZONED DATETIME, by, reason STRING
MATCH (memory:Memory {agentId: $agentId, id: $id})<-[:OF]-(change:Change)
RETURN
  change.seq AS seq,
  change.ordinal AS ordinal,
  change.verb AS verb,
  change.at AS at,
  change.by AS by,
  change.reason AS reason
ORDER BY seq, ordinal
