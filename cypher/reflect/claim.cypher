// Let an open run claim the sum that triggered it, so that it triggers once.
MATCH (agent:Agent {id: $agentId})
MATCH (run:Run {agentId: $agentId, id: $runId})
SET
  run.claimed = agent.importanceSinceReflection,
  agent.importanceSinceReflection = 0,
  agent.openReflection = run.id
RETURN run.claimed AS claimed
