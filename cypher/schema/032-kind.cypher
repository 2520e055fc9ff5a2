// An agent's memories of a kind, by time.
CREATE INDEX memoryKind IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.kind, memory.occurredAt)
