// Count in what was observed: how many memories are held, and the sum that triggers the next reflection (Park et al.
// 2023, section 4.2), with how many observations it is the sum of. Where the threshold is told in observations, it is
// so many times the mean importance of all that the agent ever observed.
// Returns: importanceSinceReflection INTEGER
MATCH (agent:Agent {id: $agentId})
SET
  agent.held = agent.held + $count,
  agent.importanceSinceReflection = agent.importanceSinceReflection + $importance,
  agent.observedSinceReflection = coalesce(agent.observedSinceReflection, 0) + $count,
  agent.observed = coalesce(agent.observed, 0) + $count,
  agent.importanceObserved = coalesce(agent.importanceObserved, 0) + $importance
SET agent.reflectionThreshold = CASE
  WHEN agent.reflectionEvery IS NULL OR agent.observed = 0 THEN agent.reflectionThreshold
  ELSE toInteger(ceil(1.0 * agent.reflectionEvery * agent.importanceObserved / agent.observed))
END
RETURN agent.importanceSinceReflection AS importanceSinceReflection
