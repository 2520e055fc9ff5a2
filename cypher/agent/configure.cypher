// Set properties of an agent.
MATCH (agent:Agent {id: $agentId})
SET agent += $properties
RETURN agent.id AS id
