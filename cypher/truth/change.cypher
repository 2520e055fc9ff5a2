// Append one change of belief to the audit log.
MATCH (memory:Memory {agentId: $agentId, id: $id})
CREATE (change:Change {
  agentId: $agentId,
  seq: $seq,
  ordinal: $ordinal,
  verb: $verb,
  at: $now,
  by: $by,
  reason: $reason
})
CREATE (change)-[:OF]->(memory)
RETURN change.seq AS seq
