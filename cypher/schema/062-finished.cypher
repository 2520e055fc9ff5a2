// An agent's plans, by when it was said what became of them.
CREATE INDEX memoryFinished IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.finishedAt)
