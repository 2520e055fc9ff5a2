// Keep the trigger claimed, and note up to where the agent has reflected.
MATCH (agent:Agent {id: $agentId, openReflection: $runId})
SET
  agent.openReflection = null,
  agent.reflectedUpTo = $upTo
RETURN agent.reflectedUpTo AS upTo
