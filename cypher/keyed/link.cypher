// Say which value of a keyed fact stands in the place of which; what was said before is revoked and stays as history.
// links LIST<MAP>: older STRING, newer STRING or null (nothing does)
// Returns: links INTEGER
UNWIND $links AS link
MATCH (older:Memory {agentId: $agentId, id: link.older})
CALL (older) {
  MATCH (older)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(:Memory)
  SET edge.revokedAt = $now
}
CALL (older, link) {
  MATCH (newer:Memory {agentId: $agentId, id: link.newer})
  CREATE (newer)-[:SUPERSEDES {at: $now, mode: 'update', reason: $reason, by: $by, made: false}]->(older)
}
RETURN count(link) AS links
