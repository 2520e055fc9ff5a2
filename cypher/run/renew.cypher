// Keep a run's lease from ending while it works.
MATCH (run:Run {agentId: $agentId, id: $runId, outcome: 'open'})
SET run.leaseUntil = datetime() + duration({seconds: $leaseSeconds})
RETURN run.id AS id
