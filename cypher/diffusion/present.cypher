// What an agent perceived at a place within a span of time.
// Returns: memory MAP (without its vector), labels LIST<STRING>, at most one
MATCH (memory:Memory {agentId: $agentId, place: $place})
USING INDEX SEEK memory:Memory(agentId, place, occurredAt)
WHERE memory.occurredAt >= $since AND memory.occurredAt < $until AND memory:Observation AND memory.held
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
LIMIT 1
