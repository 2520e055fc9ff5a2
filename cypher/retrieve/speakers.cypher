// Which words of a query name somebody who speaks in the agent's memories.
// words LIST<MAP>: word STRING, search STRING (of the index memoryText, scoped to the agent)
// Returns: word STRING
UNWIND $words AS asked
CALL (asked) {
  MATCH (memory:Memory)
    SEARCH memory IN (FULLTEXT INDEX memoryText FOR asked.search LIMIT 1) SCORE AS found
  WITH memory, found
  WHERE found > 0 AND memory.agentId = $agentId
  RETURN count(memory) > 0 AS named
}
WITH asked, named
WHERE named
RETURN asked.word AS word
