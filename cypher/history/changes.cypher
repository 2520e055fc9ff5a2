// The log of one memory: every change of belief about it.
// Returns: seq, ordinal INTEGER, verb STRING, at ZONED DATETIME, by, reason STRING, importanceBefore, importanceAfter INTEGER or null
MATCH (memory:Memory {agentId: $agentId, id: $id})<-[:OF]-(change:Change)
RETURN
  change.seq AS seq,
  change.ordinal AS ordinal,
  change.verb AS verb,
  change.at AS at,
  change.by AS by,
  change.reason AS reason,
  change.importanceBefore AS importanceBefore,
  change.importanceAfter AS importanceAfter
ORDER BY seq, ordinal
