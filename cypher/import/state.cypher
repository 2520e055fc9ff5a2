// Whether an agent may be imported into; read after the agent was locked.
// Returns: origin STRING or null, importedAt ZONED DATETIME or null, held, revision INTEGER
MATCH (agent:Agent {id: $agentId})
RETURN
  agent.importedFrom AS origin,
  agent.importedAt AS importedAt,
  agent.held AS held,
  agent.revision AS revision
