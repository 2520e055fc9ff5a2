// Open a run; it is taken for dead when its lease ends before it does.
// Returns: id STRING
CREATE (run:Run {
  agentId: $agentId,
  id: $runId,
  verb: $verb,
  outcome: 'open',
  model: $model,
  promptVersion: $promptVersion,
  startedAt: $now,
  leaseUntil: datetime() + duration({seconds: $leaseSeconds}),
  promptTokens: 0,
  completionTokens: 0,
  refused: []
})
RETURN run.id AS id
