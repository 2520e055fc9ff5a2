// Give the right to work on an agent back.
// Returns: id STRING
MATCH (agent:Agent {id: $agentId, workToken: $token})
SET
  agent.workToken = null,
  agent.workUntil = null
RETURN agent.id AS id
