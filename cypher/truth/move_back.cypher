// Move back to a restored memory what a confirmation, or a later value of equal text, had moved to what replaced it.
// Returns: id STRING of each memory that rests on it again
MATCH (restored:Memory {agentId: $agentId, id: $restored})<-[old:CITES|DERIVED_FROM]-(upper:Memory)
WHERE upper.held AND old.movedTo = $newer
MATCH (upper)-[moved:CITES|DERIVED_FROM WHERE moved.until IS NULL]->(:Memory {agentId: $agentId, id: $newer})
WITH restored, upper, moved, old
ORDER BY old.until
WITH restored, upper, moved, collect(old)[-1] AS last
// What it had cited besides before the move stays.
SET moved.until = CASE WHEN moved.since >= last.until THEN $now END
WITH restored, upper, last
CALL (restored, upper) {
  // What it was is what it is again.
  MATCH (upper)-[was:CITES WHERE was.until IS NULL AND was.past]->(restored)
  SET was.until = $now
}
WITH restored, upper, last
WHERE NOT EXISTS { (upper)-[current:CITES|DERIVED_FROM WHERE current.until IS NULL]->(restored) }
CREATE (upper)-[edge:$(type(last))]->(restored)
SET
  edge.rank = last.rank,
  edge.support = last.support,
  edge.since = $now
RETURN upper.id AS id
