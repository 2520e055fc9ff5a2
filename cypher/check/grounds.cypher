// Grounds: no memory rests on itself, and every reflection cites something or says that its grounds are missing.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)
WHERE memory.id IS NOT NULL
WITH DISTINCT memory
WHERE EXISTS {
  ANY SHORTEST (memory)
    (()-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(:Memory))+
    (again:Memory WHERE again = memory)
}
RETURN memory.agentId AS agentId, memory.id AS id, 'rests on itself' AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
  AND memory:Reflection
  AND NOT EXISTS { (memory)-[:CITES]->(:Memory) }
  AND coalesce(memory.missingGrounds, 0) = 0
RETURN memory.agentId AS agentId, memory.id AS id, 'cites nothing' AS problem
