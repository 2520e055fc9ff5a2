// Make an agent what it was where it comes from.
// properties MAP: of the agent. importance, observed INTEGER: the sum that triggers its next reflection, and of how many
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
SET
  agent += $properties,
  agent.importanceSinceReflection = $importance,
  agent.observedSinceReflection = $observed,
  agent.importedFrom = $origin,
  agent.importedAt = $importedAt,
  agent.fileRest = $fileRest
RETURN agent.id AS id
