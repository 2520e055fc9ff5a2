// Plans that are stale, in order.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (plan:Memory {agentId: $agentId, status: 'stale'})
USING INDEX SEEK plan:Memory(agentId, status, occurredAt)
WHERE plan.occurredAt IS NOT NULL AND plan:Plan
RETURN plan {.*, embedding: null} AS memory, labels(plan) AS labels
ORDER BY plan.start, plan.id
