// Memories rated by rule for now, which a language model is still to rate: the property stands only on those.
CREATE INDEX memoryRatingDue IF NOT EXISTS
FOR (memory:Memory) ON (memory.agentId, memory.ratingDue)
