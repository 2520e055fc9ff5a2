// Lease a simulation, so that one process at a time simulates it, or keep it leased.
// Returns: mine BOOLEAN
MATCH (simulation:Simulation {name: $simulation})
SET simulation.touchedAt = datetime()
WITH
  simulation,
  coalesce(simulation.leaseToken = $token OR simulation.leaseUntil <= datetime(), true) AS mine
SET
  simulation.leaseToken = CASE WHEN mine THEN $token ELSE simulation.leaseToken END,
  simulation.leaseUntil = CASE
    WHEN mine THEN datetime() + duration({seconds: $seconds})
    ELSE simulation.leaseUntil
  END
RETURN mine
