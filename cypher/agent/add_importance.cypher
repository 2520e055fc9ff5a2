// Add what came in to the sum that triggers the next reflection (Park et al. 2023, section 4.2).
MATCH (agent:Agent {id: $agentId})
SET agent.importanceSinceReflection = agent.importanceSinceReflection + $importance
RETURN agent.importanceSinceReflection AS importanceSinceReflection
