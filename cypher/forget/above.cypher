// Held memories that rest on these now, at any depth.
// Returns: id STRING
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
CALL (memory) {
  MATCH (memory)
    (()<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(upper:Memory WHERE upper.held)){1,}
    (above:Memory)
  RETURN DISTINCT above
}
WITH DISTINCT above
WHERE NOT above.id IN $ids
RETURN above.id AS id
