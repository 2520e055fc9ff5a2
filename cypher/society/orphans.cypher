// Runs of an agent that a simulation opened in a step and never closed: its process died, so their leases end now.
// Returns: orphans INTEGER
MATCH (run:Run {agentId: $agentId})
WHERE run.id >= '' AND run.outcome = 'open' AND run.startedAt = $at
SET run.leaseUntil = datetime() - duration({seconds: 1})
RETURN count(run) AS orphans
