// Delete some of an agent's runs and changes, of what its memories named, of the places that it knew, and of its
// steps in simulations.
// Returns: deleted INTEGER
CALL () {
  MATCH (node:Run {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Change {agentId: $agentId})
  WHERE node.seq IS NOT NULL AND node.ordinal IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Entity {agentId: $agentId})
  WHERE node.name IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Place {scope: $agentId})
  WHERE node.path IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Step {agentId: $agentId})
  WHERE node.simulation IS NOT NULL AND node.number IS NOT NULL
  RETURN node
}
WITH node
LIMIT $limit
DETACH DELETE node
RETURN count(node) AS deleted
