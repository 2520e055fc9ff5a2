// Lock an existing agent for writing; no row: there is no such agent.
// One that was deleted while its lock was waited for gives a row without properties, hence the filter.
// $commit marks the transaction: agent/commits says what the marks are for.
// Returns: revision INTEGER; commits LIST<INTEGER>, the marks before
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent, coalesce(agent.commits, []) AS commits
WHERE agent.revision IS NOT NULL
SET agent.commits = ([$commit] + [mark IN commits WHERE mark <> $commit])[..32]
RETURN agent.revision AS revision, commits
