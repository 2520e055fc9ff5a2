// Agents whose ids end with what was asked for, as those of a simulation do (simulation/name), or differ only in case.
// called STRING: what there is no agent of
// Returns: id STRING
MATCH (agent:Agent)
WHERE agent.id IS NOT NULL AND (agent.id ENDS WITH '/' + $called OR toLower(agent.id) = toLower($called))
RETURN agent.id AS id
ORDER BY id
LIMIT 3
