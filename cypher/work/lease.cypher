// Take or renew the right to work on an agent in the background; no row: another worker has it. By the server's clock.
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent
WHERE agent.workToken = $token OR coalesce(agent.workUntil < datetime(), true)
SET
  agent.workToken = $token,
  agent.workUntil = datetime() + duration({seconds: $leaseSeconds})
RETURN agent.id AS id
