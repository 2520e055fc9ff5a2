// An agent as it would be imported elsewhere. No row: nothing was ever written for it.
// Returns: agent MAP
MATCH (agent:Agent {id: $agentId})
RETURN agent {.*} AS agent
