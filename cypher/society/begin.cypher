// Begin a simulation, or go on with it: what was simulated stays, and how many steps there are to be may change.
// properties MAP: of a new one
// Returns: simulation MAP
MERGE (simulation:Simulation {name: $simulation})
  ON CREATE SET
    simulation += $properties,
    simulation.done = 0,
    simulation.createdAt = datetime()
SET simulation.steps = $steps
RETURN simulation {.*} AS simulation
