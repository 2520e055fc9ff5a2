// A run's identity is the pair of agent and id.
CREATE CONSTRAINT runId IF NOT EXISTS
FOR (run:Run) REQUIRE (run.agentId, run.id) IS UNIQUE
