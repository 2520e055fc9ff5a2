// Depth: 1 + the deepest current ground for a held reflection, 0 for observations and plans.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})-[edge:CITES WHERE edge.until IS NULL]->(ground:Memory)
WHERE memory.id IS NOT NULL AND memory:Reflection AND memory.held
WITH memory, 1 + max(ground.depth) AS depth
WHERE memory.depth <> depth
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  'has depth ' + toString(memory.depth) + ', not ' + toString(depth) AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL AND NOT memory:Reflection AND memory.depth <> 0
RETURN memory.agentId AS agentId, memory.id AS id, 'is no reflection, but has a depth' AS problem
