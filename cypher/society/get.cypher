// A simulation by its name. No row: there is none.
// Returns: simulation MAP
MATCH (simulation:Simulation {name: $simulation})
RETURN simulation {.*} AS simulation
