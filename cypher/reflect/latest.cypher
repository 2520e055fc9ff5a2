// The latest active memories, newest first; of plans the blocks of a day, whose hours and steps say nothing more.
// knownBy ZONED DATETIME or null: only what was recorded by then.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND NOT memory.kind IN ['hour', 'step']
  AND ($knownBy IS NULL OR memory.recordedAt <= $knownBy)
WITH memory
ORDER BY memory.agentId DESC, memory.status DESC, memory.occurredAt DESC
LIMIT $limit
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
