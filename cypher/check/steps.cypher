// Steps of a simulation are numbered without a gap, as far as the simulation was simulated.
// Returns: agentId, id, problem STRING
MATCH (step:Step {agentId: $agentId})
WHERE step.simulation IS NOT NULL AND step.number IS NOT NULL
WITH step.agentId AS agentId, step.simulation AS name, count(step) AS steps, max(step.number) AS last
OPTIONAL MATCH (simulation:Simulation {name: name})
WITH agentId, name, steps, last, simulation.done AS done
WHERE steps <> last + 1 OR done IS NULL OR done <> steps
RETURN
  agentId,
  agentId AS id,
  'has ' + steps + ' steps up to ' + (last + 1) + ' of simulation ' + name + ', which has ' + coalesce(done, 0) AS problem
