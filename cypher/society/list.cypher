// All simulations.
// Returns: simulation MAP
MATCH (simulation:Simulation)
WHERE simulation.name IS NOT NULL
RETURN simulation {.*} AS simulation
ORDER BY simulation.name
