// Tokens of an agent's runs from an id on: ids begin with the time.
// Returns: tokens INTEGER
MATCH (run:Run {agentId: $agentId})
WHERE run.id >= $since
RETURN coalesce(sum(run.promptTokens + run.completionTokens), 0) AS tokens
