// A memory's identity is the pair of agent and id; its index serves every look-up.
CREATE CONSTRAINT memoryId IF NOT EXISTS
FOR (memory:Memory) REQUIRE (memory.agentId, memory.id) IS UNIQUE
