// What a run wrote.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (run:Run {agentId: $agentId, id: $runId})<-[:PRODUCED_BY]-(memory:Memory)
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
ORDER BY memory.recordedAt, memory.id
