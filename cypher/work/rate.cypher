// Store ratings of a language model, and correct the sum that triggers reflection by the difference.
// rows LIST<MAP>: id STRING, importance INTEGER, by STRING
// Returns: rated INTEGER
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent
WHERE agent.workToken = $token
UNWIND $rows AS row
MATCH (memory:Memory {agentId: $agentId, id: row.id})
WHERE memory.ratingDue
WITH agent, memory, row, row.importance - memory.importance AS difference
SET
  memory.importance = row.importance,
  memory.importanceBy = row.by,
  memory.ratingDue = null
WITH agent, count(memory) AS rated, sum(difference) AS difference
SET agent.importanceObserved = coalesce(agent.importanceObserved, 0) + difference
SET agent.importanceSinceReflection = CASE
  WHEN agent.importanceSinceReflection + difference < 0 THEN 0
  ELSE agent.importanceSinceReflection + difference
END
RETURN rated
