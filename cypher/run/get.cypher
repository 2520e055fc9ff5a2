// Runs of an agent, newest first; a runId of null: all of them.
// Returns: run MAP
MATCH (run:Run {agentId: $agentId})
WHERE run.id >= '' AND ($runId IS NULL OR run.id = $runId)
RETURN run {.*} AS run
ORDER BY run.startedAt DESC, run.id
LIMIT $limit
