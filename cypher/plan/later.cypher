// How many active memories, plans apart, were recorded after a moment.
// knownBy ZONED DATETIME: what was recorded by then is known.
// Returns: later INTEGER
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory.recordedAt > $knownBy AND NOT memory:Plan
RETURN count(memory) AS later
