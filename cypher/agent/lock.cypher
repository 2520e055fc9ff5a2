// Lock an existing agent for writing; no row: there is no such agent.
// Returns: revision INTEGER
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
RETURN agent.revision AS revision
