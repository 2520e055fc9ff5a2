// Make what new memories name into entities, and say in which roles each memory names it. The agent is locked.
// Returns: edges INTEGER
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WITH
  memory,
  [['subject', memory.subject], ['object', memory.object], ['source', memory.source]]
    + [keyword IN coalesce(memory.keywords, []) | ['keyword', keyword]] AS named
UNWIND named AS pair
WITH memory, pair[0] AS role, pair[1] AS name
WHERE name IS NOT NULL
WITH memory, name, collect(DISTINCT role) AS roles
MERGE (entity:Entity {agentId: $agentId, name: name})
CREATE (memory)-[about:ABOUT {roles: roles}]->(entity)
RETURN count(about) AS edges
