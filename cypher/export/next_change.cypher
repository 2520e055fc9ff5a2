// The first of an agent's revisions after one in which something changed.
// Returns: seq INTEGER or null: there is none
MATCH (change:Change {agentId: $agentId})
WHERE change.seq > $after AND change.ordinal IS NOT NULL
RETURN min(change.seq) AS seq
