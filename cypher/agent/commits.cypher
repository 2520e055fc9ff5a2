// The marks of the last 32 transactions that locked an agent, the newest first; no row: there is no such agent. When the
// connection breaks during a commit, they tell whether it was made. Writing waits for the lock, so for that transaction.
// Returns: commits LIST<INTEGER>
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent
RETURN coalesce(agent.commits, []) AS commits
