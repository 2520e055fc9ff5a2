// All that rests or ever rested on these memories, at any depth: its text may say in other words what they said.
// Returns: id STRING
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
CALL (memory) {
  MATCH (memory) (()<-[:CITES|DERIVED_FROM]-(:Memory)){1,} (above:Memory)
  RETURN DISTINCT above
}
WITH DISTINCT above
WHERE NOT above.id IN $ids
RETURN above.id AS id
