// When an agent reflected, and something came of it or not.
// Returns: at ZONED DATETIME
MATCH (run:Run {agentId: $agentId})
WHERE run.id >= ''
  AND run.verb = 'reflect'
  AND run.outcome IN ['reflected', 'no_insight']
  AND run.startedAt >= $since
  AND run.startedAt < $until
RETURN run.startedAt AS at
ORDER BY at
