// Count in what was observed: how many memories are held, and the sum that triggers the next reflection (Park et al.
// 2023, section 4.2), with how many observations it is the sum of and what all that was ever observed weighs.
MATCH (agent:Agent {id: $agentId})
SET
  agent.held = agent.held + $count,
  agent.importanceSinceReflection = agent.importanceSinceReflection + $importance,
  agent.observedSinceReflection = coalesce(agent.observedSinceReflection, 0) + $count,
  agent.observed = coalesce(agent.observed, 0) + $count,
  agent.importanceObserved = coalesce(agent.importanceObserved, 0) + $importance
RETURN agent.importanceSinceReflection AS importanceSinceReflection
