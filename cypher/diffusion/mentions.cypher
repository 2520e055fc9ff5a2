// An agent's held memories that hold some of the words of a fact.
// search STRING: of the index memoryText, scoped to the agent
// Returns: memory MAP (without its vector), labels LIST<STRING>, heard BOOLEAN (from another agent), tells BOOLEAN
MATCH (memory:Memory)
  SEARCH memory IN (FULLTEXT INDEX memoryText FOR $search LIMIT $limit) SCORE AS found
WITH memory, found
WHERE found > 0 AND memory.agentId = $agentId
RETURN
  memory {.*, embedding: null} AS memory,
  labels(memory) AS labels,
  EXISTS { (memory)-[:HEARD_FROM]->(:Memory) } AS heard,
  EXISTS { (memory)-[:TELLS]->(:Memory) } AS tells
