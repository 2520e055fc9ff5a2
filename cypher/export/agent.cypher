// An agent as an export holds it, without its marks of transactions, and what tells whether it was written to meanwhile.
// Returns: properties MAP, state LIST<INTEGER>
MATCH (agent:Agent {id: $agentId})
RETURN
  agent {.*, commits: null, writtenAt: null} AS properties,
  [agent.revision] + coalesce(agent.commits, []) AS state
