// Let a reflection cite memories that it does not cite yet.
// evidence LIST<MAP>: id STRING, rank INTEGER, support FLOAT or null, past BOOLEAN or null (it cites what was true until then)
// Returns: id STRING of each memory that it cites now
MATCH (reflection:Memory {agentId: $agentId, id: $id})
UNWIND $evidence AS item
MATCH (ground:Memory {agentId: $agentId, id: item.id})
WHERE ground.id <> reflection.id
CALL (reflection, ground, item) {
  WITH *
  WHERE NOT EXISTS { (reflection)-[edge:CITES WHERE edge.until IS NULL]->(ground) }
  CREATE (reflection)-[:CITES {rank: item.rank, support: item.support, since: $now, past: item.past}]->(ground)
}
RETURN ground.id AS id
