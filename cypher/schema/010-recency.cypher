// An agent's latest memories in their order.
CREATE INDEX memoryOccurred IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.status, memory.occurredAt)
