// What a stale memory rests on, each ground with what stands in its place today.
// Returns: ground MAP {id, status, text}, past MAP or null, pastLabels LIST<STRING> (the ground itself where it was
// true until an update superseded it), memory MAP (what stands in its place, without its vector), labels LIST<STRING>,
// rank INTEGER or null, support FLOAT or null, reason STRING or null (of the change that ended the ground)
MATCH (memory:Memory {agentId: $agentId, id: $id})
MATCH (memory)-[edge:CITES WHERE edge.until IS NULL]->(ground:Memory)
MATCH (ground)
  (()<-[change:SUPERSEDES WHERE change.revokedAt IS NULL]-(:Memory)){0,}
  (head:Memory)
WHERE NOT EXISTS { (head)<-[later:SUPERSEDES WHERE later.revokedAt IS NULL]-(:Memory) }
// Where a restore ended the head, the memory that was restored last stands in its place again.
OPTIONAL MATCH (head)-[revoked:SUPERSEDES WHERE revoked.revokedAt IS NOT NULL]->(restored:Memory)
WHERE NOT head.held AND restored.held
WITH ground, edge, change, head, restored
ORDER BY revoked.revokedAt DESC, restored.id
WITH ground, edge, change, head AS last, collect(restored) AS restored
WITH ground, edge, change, coalesce(restored[0], last) AS standing
WITH *, ground.status = 'superseded' AND EXISTS {
  (ground)<-[update:SUPERSEDES WHERE update.mode = 'update' AND update.revokedAt IS NULL]-(:Memory)
} AS updated
RETURN
  ground {.id, .status, .text} AS ground,
  CASE WHEN updated THEN ground {.*, embedding: null} END AS past,
  labels(ground) AS pastLabels,
  standing {.*, embedding: null} AS memory,
  labels(standing) AS labels,
  edge.rank AS rank,
  edge.support AS support,
  head([c IN change | c.reason]) AS reason
ORDER BY rank, ground.id
