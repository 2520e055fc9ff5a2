// Give the claimed sum back to the agent, because the run failed or its process died.
// Returns: importance INTEGER
MATCH (agent:Agent {id: $agentId})
MATCH (run:Run {agentId: $agentId, id: $runId})
SET
  agent.importanceSinceReflection = agent.importanceSinceReflection + run.claimed,
  agent.observedSinceReflection = coalesce(agent.observedSinceReflection, 0) + coalesce(run.claimedObservations, 0),
  agent.openReflection = null,
  run.claimed = 0,
  run.claimedObservations = 0
RETURN agent.importanceSinceReflection AS importance
