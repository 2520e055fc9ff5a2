// Runs whose prompt had shown a memory.
// Returns: id STRING, verb STRING, at ZONED DATETIME
MATCH (memory:Memory {agentId: $agentId, id: $id})<-[:USED]-(run:Run)
RETURN DISTINCT run.id AS id, run.verb AS verb, run.startedAt AS at
ORDER BY at, id
