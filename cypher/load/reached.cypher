// Note how far an agent is imported; null: to the end.
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
SET agent.loadingLine = $line
RETURN agent.id AS id
