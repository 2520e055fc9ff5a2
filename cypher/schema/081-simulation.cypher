// A simulation is known by its name.
CREATE CONSTRAINT simulationName IF NOT EXISTS
FOR (simulation:Simulation) REQUIRE simulation.name IS UNIQUE
