// Lock an existing agent and count a change of belief; no row: there is no such agent.
// Counting takes a second lock, on the node's relationships, which must come after the node's own as everywhere else:
// hence the clauses apart.
// One that was deleted while its lock was waited for gives a row without properties, hence the filter.
// $commit marks the transaction: agent/commits says what the marks are for.
// Returns: revision INTEGER, the seq of the changes that follow; commits LIST<INTEGER>, the marks before
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent, coalesce(agent.commits, []) AS commits
WHERE agent.revision IS NOT NULL
SET agent.commits = ([$commit] + [mark IN commits WHERE mark <> $commit])[..32]
WITH agent, commits
SET agent.revision = agent.revision + 1
RETURN agent.revision AS revision, commits
