// Say which value of a keyed fact stands in the place of which; what was said before is revoked and stays as history.
// links LIST<MAP>: older STRING, newer STRING or null (nothing does), at ZONED DATETIME (since when the older one is not
// believed). Nothing stands in the place of another before the agent had both.
// Returns: links INTEGER
UNWIND $links AS link
MATCH (older:Memory {agentId: $agentId, id: link.older})
CALL (older) {
  MATCH (older)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(:Memory)
  SET edge.revokedAt = CASE WHEN edge.at > $now THEN edge.at ELSE $now END
}
CALL (older, link) {
  MATCH (newer:Memory {agentId: $agentId, id: link.newer})
  CREATE (newer)-[edge:SUPERSEDES {mode: 'update', reason: $reason, by: $by, made: false}]->(older)
  WITH edge, newer
  UNWIND [link.at, older.recordedAt, newer.recordedAt] AS moment
  WITH edge, max(moment) AS at
  SET edge.at = at
}
RETURN count(link) AS links
