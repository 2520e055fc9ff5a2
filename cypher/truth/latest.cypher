// The latest moment of these memories so far: when the agent came to hold them, when a change of belief about one is
// dated, and since when one is stale.
// turns LIST<STRING>: verbs that end a memory or hold it again
// Returns: at ZONED DATETIME or null (there is none of them)
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
CALL (memory) {
  RETURN memory.recordedAt AS at
  UNION ALL
  MATCH (memory)<-[:OF]-(change:Change)
  WHERE change.verb IN $turns
  RETURN change.at AS at
  UNION ALL
  MATCH (memory)-[because:STALE_BECAUSE WHERE because.until IS NULL]->(:Memory)
  RETURN because.since AS at
}
RETURN max(at) AS at
