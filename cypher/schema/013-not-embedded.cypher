// Memories whose text could not be embedded yet: the property stands only on those.
CREATE INDEX memoryNotEmbedded IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.notEmbedded)
