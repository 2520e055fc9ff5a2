// Record a step of a simulation: what each agent did. It is the step after the last, so that none is lost or doubled.
// rows LIST<MAP>: agentId STRING, properties MAP
// Returns: done INTEGER; no row: the step is not the next one, or the simulation is another process's
MATCH (simulation:Simulation {name: $simulation, done: $number, leaseToken: $token})
SET simulation.done = $number + 1
WITH simulation
CALL (simulation) {
  UNWIND $rows AS row
  CREATE (step:Step {agentId: row.agentId, simulation: $simulation, number: $number})
  SET step += row.properties
}
RETURN simulation.done AS done
