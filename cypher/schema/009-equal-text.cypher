// Memories of equal normalised text, by its hash: text itself is too long for a range index.
CREATE INDEX memoryTextHash IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.textHash)
