// How many memories are stale.
// Returns: remaining INTEGER
MATCH (memory:Memory {agentId: $agentId, status: 'stale'})
WHERE memory.occurredAt IS NOT NULL
RETURN count(memory) AS remaining
