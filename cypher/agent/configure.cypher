// Set properties of an agent.
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
SET agent += $properties
RETURN agent.id AS id
