// Runs whose prompts had shown one of these memories; what was asked about the past is touched only by what is dated so.
// Returns: id STRING, verb STRING, at ZONED DATETIME
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})<-[:USED]-(run:Run)
WHERE run.asOf IS NULL OR memory.endedAt <= run.asOf
RETURN DISTINCT run.id AS id, run.verb AS verb, run.startedAt AS at
ORDER BY at, id
