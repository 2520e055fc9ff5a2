// The latest active memories, newest first.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
WHERE memory.occurredAt IS NOT NULL
WITH memory
ORDER BY memory.agentId DESC, memory.status DESC, memory.occurredAt DESC
LIMIT $limit
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
