// Make an agent what it was where it was exported.
// properties MAP: of the agent. line INTEGER: of the file, on which it stands
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
SET
  agent += $properties,
  agent.loadedFrom = $origin,
  agent.loadedAt = $now,
  agent.loadingLine = $line
RETURN agent.id AS id
