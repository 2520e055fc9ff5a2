// Keep a run's lease from ending while it works, and note what it has spent so far.
// Returns: id STRING
MATCH (run:Run {agentId: $agentId, id: $runId, outcome: 'open'})
SET
  run.leaseUntil = datetime() + duration({seconds: $leaseSeconds}),
  run.promptTokens = $promptTokens,
  run.completionTokens = $completionTokens,
  run.cost = $cost
RETURN run.id AS id
