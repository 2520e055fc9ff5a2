// The values of a keyed fact by when the agent came to hold them: whether one came later than a moment.
CREATE INDEX memoryKeyRecorded IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.key, memory.recordedAt)
