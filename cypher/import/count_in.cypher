// Count in what was imported: how many memories are held, and the mean importance of what was observed. The sum that
// triggers the next reflection came with the agent.
// Returns: held INTEGER
MATCH (agent:Agent {id: $agentId})
SET
  agent.held = agent.held + $count,
  agent.observed = coalesce(agent.observed, 0) + $observed,
  agent.importanceObserved = coalesce(agent.importanceObserved, 0) + $importance
RETURN agent.held AS held
