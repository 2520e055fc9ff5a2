// The held parts of a plan and their parts, as far as nobody has said what became of them.
// Returns: id STRING
MATCH (plan:Memory {agentId: $agentId, id: $id})
  (()<-[:DERIVED_FROM {part: true}]-(:Memory)){1,5}
  (part:Memory)
WHERE part.held AND part.state IN ['planned', 'active']
RETURN DISTINCT part.id AS id
ORDER BY id
