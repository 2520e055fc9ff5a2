// Close a run with its outcome, what it cost, and what of it was refused.
// Returns: id STRING
MATCH (run:Run {agentId: $agentId, id: $runId})
SET
  run.outcome = $outcome,
  run.error = $error,
  run.endedAt = $now,
  run.leaseUntil = null,
  run.refused = $refused,
  run.promptTokens = $promptTokens,
  run.completionTokens = $completionTokens,
  run.cost = $cost
RETURN run.id AS id
