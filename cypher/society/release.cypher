// Give the lease of a simulation back.
// Returns: done INTEGER
MATCH (simulation:Simulation {name: $simulation, leaseToken: $token})
SET
  simulation.leaseToken = null,
  simulation.leaseUntil = null
RETURN simulation.done AS done
