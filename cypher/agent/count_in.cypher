// Count in what was observed: how many memories are held, and the sum that triggers the next reflection (Park et al.
// 2023, section 4.2).
MATCH (agent:Agent {id: $agentId})
SET
  agent.held = agent.held + $count,
  agent.importanceSinceReflection = agent.importanceSinceReflection + $importance
RETURN agent.importanceSinceReflection AS importanceSinceReflection
