// Texts that could not be embedded and may be tried again, those tried least first.
// Returns: id, text STRING, source STRING or null
MATCH (memory:Memory {agentId: $agentId, notEmbedded: true})
WHERE memory.held AND coalesce(memory.nextEmbeddingAt <= datetime(), true)
RETURN memory.id AS id, memory.text AS text, memory.source AS source
ORDER BY coalesce(memory.embeddingAttempts, 0), memory.id
LIMIT $limit
