// Append one change of belief to the audit log; before and after are importances, where that is what changed.
MATCH (memory:Memory {agentId: $agentId, id: $id})
CREATE (change:Change {
  agentId: $agentId,
  seq: $seq,
  ordinal: $ordinal,
  verb: $verb,
  at: $now,
  by: $by,
  reason: $reason,
  importanceBefore: $before,
  importanceAfter: $after
})
CREATE (change)-[:OF]->(memory)
RETURN change.seq AS seq
