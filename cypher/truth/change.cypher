// Append changes to the audit log; before and after are importances, where that is what changed.
// entries LIST<MAP>: id STRING of the memory, ordinal INTEGER, verb, reason STRING, before, after INTEGER
// or null, at ZONED DATETIME or null (now)
// runId STRING or null: the run of a language model that decided it
// Returns: logged INTEGER
UNWIND $entries AS entry
MATCH (memory:Memory {agentId: $agentId, id: entry.id})
CREATE (change:Change {
  agentId: $agentId,
  seq: $seq,
  ordinal: entry.ordinal,
  verb: entry.verb,
  at: coalesce(entry.at, $now),
  by: $by,
  reason: entry.reason,
  runId: $runId,
  importanceBefore: entry.before,
  importanceAfter: entry.after
})
CREATE (change)-[:OF]->(memory)
RETURN count(change) AS logged
