// Every memory that a search of the index memoryText finds, with its BM25.
// Returns: id STRING, score FLOAT
MATCH (memory:Memory)
  SEARCH memory IN (FULLTEXT INDEX memoryText FOR $search LIMIT $limit) SCORE AS score
WITH memory, score
WHERE score > 0 AND memory.agentId = $agentId
RETURN memory.id AS id, score
