// What a stale memory rests on, each ground with what stands in its place today.
// Returns: ground MAP {id, status, text}, head MAP (its properties without the vector), labels LIST<STRING> of the
// head, rank INTEGER, support FLOAT or null, reason STRING or null (of the change that ended the ground)
MATCH (memory:Memory {agentId: $agentId, id: $id})
MATCH (memory)-[edge:CITES WHERE edge.until IS NULL]->(ground:Memory)
MATCH (ground)
  (()<-[change:SUPERSEDES WHERE change.revokedAt IS NULL]-(:Memory)){0,}
  (head:Memory)
WHERE NOT EXISTS { (head)<-[later:SUPERSEDES WHERE later.revokedAt IS NULL]-(:Memory) }
RETURN
  ground {.id, .status, .text} AS ground,
  head {.*, embedding: null} AS memory,
  labels(head) AS labels,
  edge.rank AS rank,
  edge.support AS support,
  head([c IN change | c.reason]) AS reason
ORDER BY rank, ground.id
