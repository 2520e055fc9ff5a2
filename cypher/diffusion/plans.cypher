// All plans of an agent that were not replaced or taken back, whatever became of them.
// Returns: memory MAP (without its vector), labels LIST<STRING>
UNWIND ['day', 'hour', 'step'] AS kind
MATCH (memory:Memory {agentId: $agentId, kind: kind})
USING INDEX SEEK memory:Memory(agentId, kind, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory.held AND memory:Plan
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
