// A page of an agent's changes of belief: all of some revisions after one.
// Returns: properties MAP
MATCH (change:Change {agentId: $agentId})
WHERE change.seq > $after AND change.seq <= $after + $limit AND change.ordinal IS NOT NULL
RETURN properties(change) AS properties
