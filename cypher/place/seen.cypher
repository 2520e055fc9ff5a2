// What an agent perceived at a moment.
// prefix STRING: of the ids of what is perceived
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt = $now AND memory.id STARTS WITH $prefix
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
ORDER BY memory.id
