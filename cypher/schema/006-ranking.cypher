// The latest memories of each importance level, in order: an index seek with a limit, no sort.
CREATE INDEX memoryRanking IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.status, memory.importance, memory.lastAccessedAt)
