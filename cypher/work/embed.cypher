// Store vectors that were missing.
// rows LIST<MAP>: id STRING, embedding VECTOR, truncated BOOLEAN
// Returns: embedded INTEGER
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent
WHERE agent.workToken = $token
UNWIND $rows AS row
MATCH (memory:Memory {agentId: $agentId, id: row.id})
WHERE memory.notEmbedded
SET
  memory.embedding = toFloatList(row.embedding),
  memory.embeddingModel = $model,
  memory.embeddingTruncated = row.truncated,
  memory.notEmbedded = null,
  memory.embeddingAttempts = null,
  memory.nextEmbeddingAt = null
RETURN count(memory) AS embedded
