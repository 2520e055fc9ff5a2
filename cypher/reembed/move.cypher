// Put the vectors made ahead in the place of the old ones, for a page of an agent's memories by id.
// Returns: moved, notEmbedded INTEGER, last STRING or null (the last id of the page)
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id > $after AND memory.embeddingNextModel = $model
WITH memory
ORDER BY memory.agentId, memory.id
LIMIT $limit
SET
  memory.embedding = memory.embeddingNext,
  memory.embeddingModel = CASE WHEN memory.embeddingNext IS NULL THEN null ELSE $model END,
  memory.embeddingTruncated = memory.embeddingNextTruncated,
  memory.notEmbedded = CASE WHEN memory.embeddingNext IS NULL THEN true END,
  memory.embeddingAttempts = null,
  memory.nextEmbeddingAt = null
WITH memory, memory.embedding IS NULL AS failed
SET
  memory.embeddingNext = null,
  memory.embeddingNextModel = null,
  memory.embeddingNextTruncated = null
RETURN
  count(memory) AS moved,
  count(CASE WHEN failed THEN 1 END) AS notEmbedded,
  max(memory.id) AS last
