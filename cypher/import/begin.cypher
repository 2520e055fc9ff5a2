// Make an agent what it was where it comes from.
// properties MAP: of the agent. importance INTEGER: the sum that triggers its next reflection
MATCH (agent:Agent {id: $agentId})
SET
  agent += $properties,
  agent.importanceSinceReflection = $importance,
  agent.importedFrom = $origin,
  agent.importedAt = $importedAt,
  agent.fileRest = $fileRest
RETURN agent.id AS id
