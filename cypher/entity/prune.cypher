// Delete what no memory names any more.
// Returns: deleted INTEGER
MATCH (entity:Entity {agentId: $agentId})
WHERE entity.name IS NOT NULL AND NOT EXISTS { (entity)<-[:ABOUT]-(:Memory) }
DELETE entity
RETURN count(*) AS deleted
