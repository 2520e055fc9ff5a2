// Delete an agent that has no memories any more.
// Returns: deleted INTEGER
MATCH (agent:Agent {id: $agentId})
DETACH DELETE agent
RETURN count(agent) AS deleted
