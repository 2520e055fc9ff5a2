// An agent's plans, by when they begin.
CREATE INDEX memoryPlanned IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.start)
