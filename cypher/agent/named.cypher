// An agent by its id or its name; of several that have the name, the first by id.
// Returns: id, name STRING
MATCH (agent:Agent)
WHERE agent.id IS NOT NULL AND (agent.id = $called OR agent.name = $called)
RETURN agent.id AS id, agent.name AS name
ORDER BY agent.id <> $called, agent.id
LIMIT 1
