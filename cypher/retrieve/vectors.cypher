// The vectors of memories.
// Returns: id STRING, embedding LIST<FLOAT>
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.embedding IS NOT NULL
RETURN memory.id AS id, memory.embedding AS embedding
