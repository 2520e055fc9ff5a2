// The latest active summary of something.
// covers STRING: what it is kept of
// Returns: memory MAP (without its vector), labels LIST<STRING>, traitsHash STRING or null
MATCH (memory:Memory {agentId: $agentId, kind: 'summary'})
USING INDEX SEEK memory:Memory(agentId, kind, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory.covers = $covers AND memory.status = 'active'
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels, memory.traitsHash AS traitsHash
ORDER BY memory.occurredAt DESC, memory.id DESC
LIMIT 1
