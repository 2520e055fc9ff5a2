// One run.
// Returns: run MAP
MATCH (run:Run {agentId: $agentId, id: $runId})
RETURN run {.*} AS run
