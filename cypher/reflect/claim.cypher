// Let an open run claim the sum that triggered it, so that it triggers once, and the observations that it is the sum of.
// Returns: claimed INTEGER
MATCH (agent:Agent {id: $agentId})
MATCH (run:Run {agentId: $agentId, id: $runId})
SET
  run.claimed = agent.importanceSinceReflection,
  run.claimedObservations = coalesce(agent.observedSinceReflection, 0),
  agent.importanceSinceReflection = 0,
  agent.observedSinceReflection = 0,
  agent.openReflection = run.id
RETURN run.claimed AS claimed
