// Memories with their vectors where those are wanted; vectors of a model that the store is being moved to are made again
// where it is needed.
// Returns: properties MAP, labels LIST<STRING>, vector LIST<FLOAT> or null
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
RETURN
  memory {
    .*,
    embedding: null,
    embeddingNext: null,
    embeddingNextModel: null,
    embeddingNextTruncated: null
  } AS properties,
  labels(memory) AS labels,
  CASE WHEN $vectors THEN memory.embedding END AS vector
