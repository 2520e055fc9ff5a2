// A small SEARCH, by which the server is asked whether it can do that.
// Returns: found INTEGER
MATCH (memory:Memory)
  SEARCH memory IN (
    VECTOR INDEX memoryEmbedding
    FOR $vector
    WHERE memory.agentId = $agentId AND memory.held = true
    LIMIT 1
  ) SCORE AS similarity
RETURN count(similarity) AS found
