// Agents of earlier versions did not count what they observed and how important it was, by which their mean is known.
// Returns: changed INTEGER
MATCH (agent:Agent)
WHERE agent.observed IS NULL
WITH agent LIMIT $limit
SET agent.writtenAt = datetime()
WITH agent
CALL (agent) {
  MATCH (memory:Memory {agentId: agent.id})
  WHERE memory.id IS NOT NULL AND memory:Observation AND memory.importance IS NOT NULL
  RETURN count(memory) AS observed, coalesce(sum(memory.importance), 0) AS importance
}
SET
  agent.observed = observed,
  agent.importanceObserved = importance,
  agent.observedSinceReflection = coalesce(agent.observedSinceReflection, 0)
RETURN count(agent) AS changed
