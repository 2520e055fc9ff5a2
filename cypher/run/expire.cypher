// Close runs whose process died: their lease ended before they did. An open reflection is left to reflect/give_back,
// which returns what it had claimed.
// Returns: expired INTEGER
MATCH (agent:Agent {id: $agentId})
MATCH (run:Run {agentId: $agentId})
WHERE run.id >= ''
  AND run.outcome = 'open'
  AND run.leaseUntil < datetime()
  AND coalesce(agent.openReflection <> run.id, true)
SET
  run.outcome = 'failed',
  run.error = 'its process died: the lease ended',
  run.endedAt = $now,
  run.leaseUntil = null
RETURN count(run) AS expired
