// Since when an agent's memories name others.
// others LIST<MAP>: id STRING, search STRING (of the index memoryText, scoped to the agent)
// Returns: id STRING (of the other), since ZONED DATETIME
UNWIND $others AS other
CALL (other) {
  MATCH (memory:Memory)
    SEARCH memory IN (FULLTEXT INDEX memoryText FOR other.search LIMIT 1000) SCORE AS found
  WITH memory, found
  WHERE found > 0 AND memory.agentId = $agentId
  RETURN min(memory.recordedAt) AS since
}
WITH other, since
WHERE since IS NOT NULL
RETURN other.id AS id, since
