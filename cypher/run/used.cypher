// Record what a run's prompts showed.
// shown LIST<MAP>: id STRING, rank INTEGER, score FLOAT or null
// Returns: used INTEGER
MATCH (run:Run {agentId: $agentId, id: $runId})
UNWIND $shown AS item
MATCH (memory:Memory {agentId: $agentId, id: item.id})
MERGE (run)-[used:USED]->(memory)
  ON CREATE SET
    used.rank = item.rank,
    used.score = item.score
RETURN count(used) AS used
