// A page of an agent's memories, by id, that lack a vector of the model that the store is moved to: neither made ahead
// nor moved already.
// Returns: id, text STRING, source STRING or null
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id > $after
  AND memory.text <> ''
  AND coalesce(memory.embeddingNextModel <> $model, true)
  AND coalesce(memory.embeddingModel <> $model, true)
WITH memory
ORDER BY memory.agentId, memory.id
LIMIT $limit
RETURN memory.id AS id, memory.text AS text, memory.source AS source
ORDER BY id
