// Memories of earlier versions named things in their properties only: give them their entities.
// Returns: changed INTEGER
MATCH (memory:Memory)
WHERE (
    memory.subject IS NOT NULL
    OR memory.object IS NOT NULL
    OR memory.source IS NOT NULL
    OR size(memory.keywords) > 0
  )
  AND NOT EXISTS { (memory)-[:ABOUT]->(:Entity) }
WITH memory LIMIT $limit
MATCH (agent:Agent {id: memory.agentId})
SET agent.writtenAt = datetime()
WITH
  memory,
  [['subject', memory.subject], ['object', memory.object], ['source', memory.source]]
    + [keyword IN coalesce(memory.keywords, []) | ['keyword', keyword]] AS named
UNWIND named AS pair
WITH memory, pair[0] AS role, pair[1] AS name
WHERE name IS NOT NULL
WITH memory, name, collect(DISTINCT role) AS roles
MERGE (entity:Entity {agentId: memory.agentId, name: name})
CREATE (memory)-[:ABOUT {roles: roles}]->(entity)
RETURN count(DISTINCT memory) AS changed
