// Move what rests on earlier values of a keyed fact to its latest one, where that has the same text: nothing changed.
// Returns: id STRING of each memory that rests on the latest one now
UNWIND $ids AS id
MATCH (latest:Memory {agentId: $agentId, id: id})
MATCH (earlier:Memory {agentId: $agentId, textHash: latest.textHash})
WHERE earlier.key = latest.key AND earlier.status = 'superseded' AND earlier.endedBy = 'key'
MATCH (earlier)<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL AND edge.past IS NULL]-(upper:Memory)
WHERE upper.held
SET
  edge.until = $now,
  edge.movedTo = latest.id
WITH latest, upper, collect(edge)[0] AS moved
CALL (latest, upper) {
  // What it was is what it is again.
  MATCH (upper)-[was:CITES WHERE was.until IS NULL AND was.past]->(latest)
  SET was.until = $now
}
WITH latest, upper, moved
WHERE NOT EXISTS { (upper)-[current:CITES|DERIVED_FROM WHERE current.until IS NULL]->(latest) }
CREATE (upper)-[edge:$(type(moved))]->(latest)
SET
  edge.rank = moved.rank,
  edge.support = moved.support,
  edge.since = $now
RETURN upper.id AS id
