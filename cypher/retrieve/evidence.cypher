// What reflections rest on now: the first grounds of each, by rank.
// Returns: id STRING (the reflection's), memory MAP (without its vector), labels LIST<STRING>
UNWIND $ids AS id
MATCH (reflection:Memory {agentId: $agentId, id: id})
CALL (reflection) {
  MATCH (reflection)-[cites:CITES]->(ground:Memory)
  WHERE cites.until IS NULL
  RETURN ground, cites.rank AS rank
  ORDER BY rank, ground.id
  LIMIT $evidence
}
RETURN id, ground {.*, embedding: null} AS memory, labels(ground) AS labels
ORDER BY id, rank, ground.id
