// Keep vectors of the model that the store is moved to beside the ones in use. A text that was forgotten since it was
// read gets none.
// rows LIST<MAP>: id, text STRING, source STRING or null (as they were read), embedding VECTOR or null (it could not be
// embedded), truncated BOOLEAN
// Returns: kept INTEGER
UNWIND $rows AS row
MATCH (memory:Memory {agentId: $agentId, id: row.id})
WHERE memory.text = row.text AND coalesce(memory.source, '') = coalesce(row.source, '')
SET
  memory.embeddingNext = toFloatList(row.embedding),
  memory.embeddingNextTruncated = row.truncated,
  memory.embeddingNextModel = $model
RETURN count(memory) AS kept
