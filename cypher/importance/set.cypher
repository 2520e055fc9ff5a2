// Change the importance of memories that are held and still have the one that was looked at; others stay as they are.
// rows LIST<MAP>: id STRING, before, after INTEGER, by STRING
// Returns: id STRING, of each that was set
MATCH (agent:Agent {id: $agentId})
UNWIND $rows AS row
MATCH (memory:Memory {agentId: $agentId, id: row.id})
WHERE memory.held AND memory.importance = row.before
SET
  memory.importance = row.after,
  memory.importanceBy = row.by,
  memory.reappraisedAt = $now,
  memory.ratingDue = null
WITH agent, row, CASE WHEN memory:Observation THEN row.after - row.before ELSE 0 END AS difference
SET agent.importanceObserved = coalesce(agent.importanceObserved, 0) + difference
RETURN row.id AS id
