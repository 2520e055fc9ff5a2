// Delete some of an agent's runs and changes.
// Returns: deleted INTEGER
CALL () {
  MATCH (node:Run {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Change {agentId: $agentId})
  WHERE node.seq IS NOT NULL AND node.ordinal IS NOT NULL
  RETURN node
}
WITH node
LIMIT $limit
DETACH DELETE node
RETURN count(node) AS deleted
