// An agent's runs, newest first.
// Returns: run MAP
MATCH (run:Run {agentId: $agentId})
WHERE run.id IS NOT NULL
RETURN run {.*} AS run
ORDER BY run.startedAt DESC, run.id DESC
LIMIT $limit
