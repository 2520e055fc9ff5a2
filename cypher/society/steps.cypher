// What an agent did in the steps of a simulation.
// Returns: step MAP
MATCH (step:Step {agentId: $agentId, simulation: $simulation})
WHERE step.number >= $since
RETURN step {.*} AS step
