// Say what became of plans, and why.
// state STRING: done, missed or dropped
// Returns: finished INTEGER
UNWIND $ids AS id
MATCH (plan:Memory {agentId: $agentId, id: id})
SET
  plan.state = $state,
  plan.reason = $reason,
  plan.finishedAt = $now
RETURN count(plan) AS finished
