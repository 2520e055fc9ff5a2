// A page of the memories that name something, exactly, as subject, object, source or keyword; latest first.
// after STRING or null: the last id of the page before.
// Returns: memory MAP (without its vector), labels LIST<STRING>
OPTIONAL MATCH (last:Memory {agentId: $agentId, id: $after})
MATCH (:Entity {agentId: $agentId, name: $entity})<-[:ABOUT]-(memory:Memory)
WHERE ($status IS NULL OR memory.status = $status)
  AND (
    $after IS NULL
    OR memory.occurredAt < last.occurredAt
    OR (memory.occurredAt = last.occurredAt AND memory.id > last.id)
  )
WITH memory
ORDER BY memory.occurredAt DESC, memory.id
LIMIT $limit
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
