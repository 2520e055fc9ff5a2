// Move citations back to a restored memory that confirmations had moved to what replaced it.
// Returns: id STRING of each reflection
MATCH (restored:Memory {agentId: $agentId, id: $restored})<-[old:CITES]-(reflection:Reflection)
WHERE reflection.held AND old.movedTo = $newer
MATCH (reflection)-[moved:CITES WHERE moved.until IS NULL]->(:Memory {agentId: $agentId, id: $newer})
WITH restored, reflection, moved, collect(old)[-1] AS last
SET moved.until = CASE WHEN moved.since = last.until THEN $now END
WITH restored, reflection, last
WHERE NOT EXISTS { (reflection)-[current:CITES WHERE current.until IS NULL]->(restored) }
CREATE (reflection)-[:CITES {rank: last.rank, support: last.support, since: $now}]->(restored)
RETURN reflection.id AS id
