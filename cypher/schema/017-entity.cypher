// What memories are about, by its exact name within an agent.
CREATE CONSTRAINT entityName IF NOT EXISTS
FOR (entity:Entity) REQUIRE (entity.agentId, entity.name) IS UNIQUE
