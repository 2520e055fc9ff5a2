// Delete an agent that has no memories any more.
MATCH (agent:Agent {id: $agentId})
DETACH DELETE agent
RETURN count(agent) AS deleted
