// An agent's memories of a place, by time.
CREATE INDEX memoryPlace IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.place, memory.occurredAt)
