// A page of an agent's memories, by id.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id > $after
  AND ($label IS NULL OR $label IN labels(memory))
  AND ($status IS NULL OR memory.status = $status)
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
ORDER BY memory.id
LIMIT $limit
