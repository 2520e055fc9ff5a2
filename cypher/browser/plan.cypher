// Today's plan: what the agent intends on the day that its clock shows, in its time zone, and what that comes from.
// :param agentId => 'ines'
// Returns: plan NODE, because PATH or null
MATCH (agent:Agent {id: $agentId})
WITH
  agent.timeZone AS zone,
  date(datetime({datetime: coalesce(agent.clock, datetime()), timezone: agent.timeZone})) AS today
MATCH (plan:Memory {agentId: $agentId, status: 'active'})
WHERE plan.occurredAt IS NOT NULL
  AND 'Plan' IN labels(plan)
  AND date(datetime({datetime: plan.start, timezone: zone})) <= today
  AND date(datetime({datetime: plan.end, timezone: zone})) >= today
OPTIONAL MATCH because = (plan)-[edge:DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)
RETURN plan, because
ORDER BY plan.start
