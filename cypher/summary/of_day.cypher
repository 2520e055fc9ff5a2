// What an agent observed in a span of time and holds true: the weightiest, the latest first where they are equal.
// knownBy ZONED DATETIME: only what was recorded by then.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt >= $from AND memory.occurredAt < $until AND memory:Observation
  AND memory.recordedAt <= $knownBy
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
ORDER BY memory.importance DESC, memory.occurredAt DESC, memory.id
LIMIT $limit
