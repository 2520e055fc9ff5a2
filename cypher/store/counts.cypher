// How much the store holds.
// Returns: agents, memories INTEGER
MATCH (agent:Agent)
RETURN count(agent) AS agents, coalesce(sum(agent.held), 0) AS memories
