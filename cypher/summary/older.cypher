// Held summaries of something, active or stale, which a new one replaces.
// covers STRING: what they are kept of
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, kind: 'summary'})
USING INDEX SEEK memory:Memory(agentId, kind, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory.covers = $covers AND memory.held AND memory.id <> $except
RETURN memory.id AS id
ORDER BY memory.occurredAt, memory.id
