// An agent's id is unique.
CREATE CONSTRAINT agentId IF NOT EXISTS
FOR (agent:Agent) REQUIRE agent.id IS UNIQUE
