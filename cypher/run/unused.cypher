// Take back that a run's prompts showed these memories: the prompt was too long for the model to read.
// Returns: unused INTEGER
MATCH (run:Run {agentId: $agentId, id: $runId})
UNWIND $ids AS id
MATCH (run)-[used:USED]->(memory:Memory {agentId: $agentId, id: id})
DELETE used
RETURN count(used) AS unused
