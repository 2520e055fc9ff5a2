// An agent's simulated time, if it lives in one.
// Returns: clock ZONED DATETIME or null
MATCH (agent:Agent {id: $agentId})
RETURN agent.clock AS clock
