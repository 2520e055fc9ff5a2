// Each memory has one ABOUT to each thing that it names, in all the roles in which it names it, and no other; and a
// thing that no memory names is not kept.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
WITH
  memory,
  [pair IN [['subject', memory.subject], ['object', memory.object], ['source', memory.source]]
    WHERE pair[1] IS NOT NULL] + [keyword IN coalesce(memory.keywords, []) | ['keyword', keyword]] AS named
CALL (named) {
  UNWIND named AS pair
  WITH DISTINCT pair[0] AS role, pair[1] AS name
  ORDER BY name, role
  RETURN collect([name, role]) AS wanted
}
CALL (memory) {
  OPTIONAL MATCH (memory)-[about:ABOUT]->(entity:Entity)
  UNWIND coalesce(about.roles, [null]) AS role
  WITH entity, role
  ORDER BY entity.name, role
  RETURN collect(CASE WHEN role IS NOT NULL THEN [entity.name, role] END) AS found
}
WITH memory, wanted, found
WHERE wanted <> found
RETURN memory.agentId AS agentId, memory.id AS id, 'is not joined with what it names' AS problem
UNION
MATCH (entity:Entity {agentId: $agentId})
WHERE entity.name IS NOT NULL AND NOT EXISTS { (entity)<-[:ABOUT]-(:Memory) }
RETURN entity.agentId AS agentId, entity.name AS id, 'is named by no memory, but kept' AS problem
