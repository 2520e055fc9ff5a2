// Lock an existing agent and count a change of belief; no row: there is no such agent.
// Returns: revision INTEGER, the seq of the changes that follow
MATCH (agent:Agent {id: $agentId})
SET
  agent.revision = agent.revision + 1,
  agent.writtenAt = datetime()
RETURN agent.revision AS revision
