// An agent's simulated time, if it lives in one, and how many memories it holds.
// Returns: clock ZONED DATETIME or null, held INTEGER
MATCH (agent:Agent {id: $agentId})
RETURN agent.clock AS clock, agent.held AS held
