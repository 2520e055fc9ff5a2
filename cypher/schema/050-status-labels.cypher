// That a memory is stale or has ended is a label as well, by which Neo4j Browser chooses its colour.
// Returns: changed INTEGER
MATCH (memory:Memory)
WHERE memory:Stale <> (memory.status = 'stale') OR memory:Ended = memory.held
WITH memory LIMIT $limit
REMOVE memory:Stale:Ended
FOREACH (stale IN CASE WHEN memory.status = 'stale' THEN [memory] ELSE [] END |
  SET stale:Stale)
FOREACH (ended IN CASE WHEN memory.held THEN [] ELSE [memory] END |
  SET ended:Ended)
RETURN count(memory) AS changed
