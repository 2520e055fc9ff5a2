// A page of the memories that name something, exactly, as subject, object, source or keyword; latest first.
// names STRING: the search in the index memoryNames, scoped to the agent. after STRING or null: the last id of the
// page before. The limit of the search is the largest there is: what is left out would be left out at random.
// Returns: memory MAP (without its vector), labels LIST<STRING>
OPTIONAL MATCH (last:Memory {agentId: $agentId, id: $after})
MATCH (memory:Memory)
  SEARCH memory IN (FULLTEXT INDEX memoryNames FOR $names LIMIT 2147483647)
WITH memory, last
WHERE memory.agentId = $agentId
  AND ($status IS NULL OR memory.status = $status)
  AND (
    $after IS NULL
    OR memory.occurredAt < last.occurredAt
    OR (memory.occurredAt = last.occurredAt AND memory.id > last.id)
  )
WITH memory
ORDER BY memory.occurredAt DESC, memory.id
LIMIT $limit
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
