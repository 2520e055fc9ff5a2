// Runs whose prompts had shown one of these memories.
// Returns: id STRING, verb STRING, at ZONED DATETIME
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})<-[:USED]-(run:Run)
RETURN DISTINCT run.id AS id, run.verb AS verb, run.startedAt AS at
ORDER BY at, id
