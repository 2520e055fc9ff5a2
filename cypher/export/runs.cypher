// Runs with all their properties.
// Returns: properties MAP
UNWIND $ids AS id
MATCH (run:Run {agentId: $agentId, id: id})
RETURN properties(run) AS properties
