// The ids of a page of an agent's runs, in order.
// Returns: id STRING
MATCH (run:Run {agentId: $agentId})
WHERE run.id > $after
RETURN run.id AS id
ORDER BY run.agentId, run.id
LIMIT $limit
