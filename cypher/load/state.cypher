// How far an agent is imported from an export; read after the agent was locked.
// Returns: origin STRING or null: a hash of the file; line INTEGER or null: the last that is stored, where it is not
// done; taken BOOLEAN: it remembers something of its own
MATCH (agent:Agent {id: $agentId})
RETURN
  agent.loadedFrom AS origin,
  agent.loadingLine AS line,
  agent.held > 0
    OR agent.revision > 0
    OR agent.importedFrom IS NOT NULL
    OR EXISTS { MATCH (memory:Memory {agentId: $agentId}) WHERE memory.id IS NOT NULL } AS taken
