// Lock an agent for writing, creating it on its first write. Every transaction that writes an agent's memories
// begins with this or with agent/lock: writing the node holds its lock until the commit.
// No row: it was deleted while its lock was waited for, and is created when this runs again.
// $commit marks the transaction: agent/commits says what the marks are for.
// Returns: clock ZONED DATETIME or null; commits LIST<INTEGER>, the marks before
MERGE (agent:Agent {id: $agentId})
  ON CREATE SET
    agent.name = $agentId,
    agent.timeZone = 'UTC',
    agent.revision = 0,
    agent.held = 0,
    agent.reflectionThreshold = 150,
    agent.importanceSinceReflection = 0,
    agent.observedSinceReflection = 0,
    agent.observed = 0,
    agent.importanceObserved = 0,
    agent.createdAt = datetime()
SET agent.writtenAt = datetime()
WITH agent, coalesce(agent.commits, []) AS commits
WHERE agent.revision IS NOT NULL
SET agent.commits = ([$commit] + [mark IN commits WHERE mark <> $commit])[..32]
RETURN agent.clock AS clock, commits
