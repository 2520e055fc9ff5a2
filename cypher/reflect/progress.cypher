// Up to where an agent had reflected before this run, and how many observations came in since.
// Returns: since ZONED DATETIME or null, observations INTEGER
MATCH (agent:Agent {id: $agentId})
MATCH (run:Run {agentId: $agentId, id: $runId})
RETURN agent.reflectedUpTo AS since, coalesce(run.claimedObservations, 0) AS observations
