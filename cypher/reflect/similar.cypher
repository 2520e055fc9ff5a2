// Active insights that are near a vector, the nearest first.
// Returns: id, text STRING, relevance FLOAT
MATCH (memory:Memory)
  SEARCH memory IN (
    VECTOR INDEX memoryEmbedding
    FOR $vector
    WHERE memory.agentId = $agentId AND memory.held = true AND memory.kind = 'insight'
    LIMIT $limit
  ) SCORE AS similarity
WITH memory, 2 * similarity - 1 AS relevance
WHERE memory.status = 'active' AND relevance >= $least
RETURN memory.id AS id, memory.text AS text, relevance
ORDER BY relevance DESC, id
