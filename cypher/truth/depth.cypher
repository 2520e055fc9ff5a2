// Bring the depth of reflections up to date: 1 + the deepest current ground. The caller repeats it for the rows
// returned until there are none; grounds have no cycle, so that ends.
// Returns: id STRING of each reflection that rests on one whose depth changed
UNWIND $ids AS id
MATCH (reflection:Memory {agentId: $agentId, id: id})
WHERE reflection:Reflection
MATCH (reflection)-[edge:CITES WHERE edge.until IS NULL]->(ground:Memory)
WITH reflection, 1 + max(ground.depth) AS depth
WHERE reflection.depth <> depth
SET reflection.depth = depth
WITH collect(reflection) AS changed
UNWIND changed AS reflection
MATCH (reflection)<-[edge:CITES WHERE edge.until IS NULL]-(upper:Reflection)
RETURN DISTINCT upper.id AS id
