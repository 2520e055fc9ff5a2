// The observations of a keyed fact in their order.
CREATE INDEX memoryKey IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.key, memory.occurredAt)
