// The turns of a conversation in their order.
CREATE INDEX memorySession IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.session, memory.occurredAt)
