// Give the lease of a simulation back.
MATCH (simulation:Simulation {name: $simulation, leaseToken: $token})
SET
  simulation.leaseToken = null,
  simulation.leaseUntil = null
RETURN simulation.done AS done
