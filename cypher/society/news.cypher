// What is news to others: the weightiest that an agent came to know of late, and whether one of them knows it already,
// as one who told or was told.
// least INTEGER: importance from which on something is news. since ZONED DATETIME: nothing from before
// Returns: id, text STRING, importance INTEGER, at ZONED DATETIME, known BOOLEAN
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX memory:Memory(agentId, status, importance, lastAccessedAt)
WHERE memory.importance >= $least
  AND memory.recordedAt >= $since
  AND memory:Observation
WITH memory,
  EXISTS { (memory)-[:HEARD_FROM]->(:Memory {agentId: $other}) }
    OR EXISTS { (memory)<-[:TELLS]-(:Memory)<-[:HEARD_FROM]-(:Memory {agentId: $other}) }
    OR EXISTS { (memory)<-[:HEARD_FROM]-(:Memory {agentId: $other}) } AS known
RETURN memory.id AS id, memory.text AS text, memory.importance AS importance, memory.occurredAt AS at, known
