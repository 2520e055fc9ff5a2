// What one speaker said to an agent, by time.
CREATE INDEX memorySource IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.source, memory.occurredAt)
