// What a memory rests on now, in order.
// Returns: ground NODE
MATCH (memory:Memory {agentId: $agentId, id: $id})-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground:Memory)
RETURN ground
ORDER BY edge.rank, ground.id
