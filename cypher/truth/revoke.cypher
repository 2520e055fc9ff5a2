// Revoke a supersession; the relationship stays as history.
// Returns: made BOOLEAN or null
MATCH (newer:Memory {agentId: $agentId, id: $newer})
MATCH (older:Memory {agentId: $agentId, id: $older})
MATCH (newer)-[change:SUPERSEDES WHERE change.revokedAt IS NULL]->(older)
SET change.revokedAt = $now
RETURN change.made AS made
