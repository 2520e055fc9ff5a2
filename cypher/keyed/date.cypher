// Say since when values of keys are not believed, where that is not the moment of the change; and what turned stale when
// they ended turned so with them, at any depth.
// ends LIST<MAP>: id STRING, at ZONED DATETIME, before ZONED DATETIME or null (since when it was so until now)
// Returns: dated INTEGER
UNWIND $ends AS end
MATCH (memory:Memory {agentId: $agentId, id: end.id})
SET memory.endedAt = CASE WHEN memory.endedBy = 'key' THEN end.at ELSE memory.endedAt END
WITH memory, end
CALL (memory, end) {
  WITH memory, end
  WHERE end.at < end.before
  MATCH (memory) (()<-[because:STALE_BECAUSE WHERE because.since = end.before]-(upper:Memory))+ ()
  UNWIND because AS edge
  WITH DISTINCT edge, startNode(edge) AS upper, end
  SET edge.since = CASE WHEN upper.recordedAt > end.at THEN upper.recordedAt ELSE end.at END
}
RETURN count(memory) AS dated
