// The active memories that are the reasons of a plan, or of the plans that it is a part of.
// Returns: id STRING
MATCH (plan:Memory {agentId: $agentId, id: $id})
  (()-[:DERIVED_FROM {part: true}]->(:Memory)){0,3}
  (above:Memory)
MATCH (above)-[edge:DERIVED_FROM WHERE edge.until IS NULL AND edge.part IS NULL]->(reason:Memory)
WHERE reason.status = 'active'
RETURN DISTINCT reason.id AS id
ORDER BY id
