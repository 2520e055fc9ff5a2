// Whether something that a run's prompts showed has been forgotten since: what it wrote may quote it.
// Returns: forgotten BOOLEAN
RETURN EXISTS {
  MATCH (run:Run {agentId: $agentId, id: $runId})-[:USED]->(memory:Memory {status: 'forgotten'})
} AS forgotten
