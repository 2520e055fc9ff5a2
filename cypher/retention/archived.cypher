// Everything of an agent that was put away, earliest first.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, status: 'archived'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL
RETURN memory.id AS id
ORDER BY memory.occurredAt, memory.id
