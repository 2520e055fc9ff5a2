// Held reflections that no held memory rests on: the tops of the trees.
// Returns: id STRING, latest first
MATCH (reflection:Memory {agentId: $agentId})
USING INDEX SEEK reflection:Memory(agentId, id)
WHERE reflection.id IS NOT NULL
  AND reflection:Reflection
  AND reflection.held
  AND NOT EXISTS {
    (reflection)<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(upper:Memory)
    WHERE upper.held
  }
RETURN reflection.id AS id
ORDER BY reflection.occurredAt DESC, reflection.id
