// Whether a reflection is due, and whether one is open; read after the agent was locked.
// Returns: importance, threshold INTEGER, openRun STRING or null, openRunLives BOOLEAN
MATCH (agent:Agent {id: $agentId})
OPTIONAL MATCH (run:Run {agentId: $agentId, id: agent.openReflection})
RETURN
  agent.importanceSinceReflection AS importance,
  agent.reflectionThreshold AS threshold,
  run.id AS openRun,
  coalesce(run.leaseUntil > datetime(), false) AS openRunLives
