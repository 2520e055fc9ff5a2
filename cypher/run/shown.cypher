// What the prompts of a run showed, in the order in which it was first shown.
// Returns: rank INTEGER, score FLOAT or null, memory MAP (without its vector), labels LIST<STRING>
MATCH (run:Run {agentId: $agentId, id: $runId})-[used:USED]->(memory:Memory)
RETURN
  used.rank AS rank,
  used.score AS score,
  memory {.*, embedding: null} AS memory,
  labels(memory) AS labels
ORDER BY rank, memory.id
