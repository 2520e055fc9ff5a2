// Which of these memories are plans whose time is over.
// Returns: id STRING
UNWIND $ids AS id
MATCH (plan:Memory {agentId: $agentId, id: id})
WHERE plan:Plan AND plan.end <= $now
RETURN plan.id AS id
