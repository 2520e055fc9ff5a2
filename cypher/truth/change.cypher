// Append changes of belief to the audit log.
// entries LIST<MAP>: id STRING of the memory, ordinal INTEGER, verb STRING, reason STRING
// runId STRING or null: the run of a language model that decided it
// Returns: logged INTEGER
UNWIND $entries AS entry
MATCH (memory:Memory {agentId: $agentId, id: entry.id})
CREATE (change:Change {
  agentId: $agentId,
  seq: $seq,
  ordinal: entry.ordinal,
  verb: entry.verb,
  at: $now,
  by: $by,
  reason: entry.reason,
  runId: $runId
})
CREATE (change)-[:OF]->(memory)
RETURN count(change) AS logged
