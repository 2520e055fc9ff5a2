// An agent does one thing in a step of a simulation: none can be lived twice.
CREATE CONSTRAINT stepNumber IF NOT EXISTS
FOR (step:Step) REQUIRE (step.agentId, step.simulation, step.number) IS UNIQUE
