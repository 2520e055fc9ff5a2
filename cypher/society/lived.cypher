// What an agent came to remember since a simulation began.
// Returns: observations, reflections, plans, done, missed, dropped INTEGER
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL AND memory.recordedAt >= $since AND memory.recordedAt < $until
RETURN
  count(CASE WHEN memory:Observation THEN 1 END) AS observations,
  count(CASE WHEN memory:Reflection THEN 1 END) AS reflections,
  count(CASE WHEN memory:Plan THEN 1 END) AS plans,
  count(CASE WHEN memory:Plan AND memory.state = 'done' THEN 1 END) AS done,
  count(CASE WHEN memory:Plan AND memory.state = 'missed' THEN 1 END) AS missed,
  count(CASE WHEN memory:Plan AND (memory.state = 'dropped' OR memory.status = 'superseded') THEN 1 END) AS dropped
