// Ids of agents that begin with a prefix.
// Returns: id STRING
MATCH (agent:Agent)
WHERE agent.id STARTS WITH $prefix
RETURN agent.id AS id
ORDER BY agent.id
LIMIT $limit
