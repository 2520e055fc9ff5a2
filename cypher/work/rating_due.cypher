// Memories that a language model is still to rate.
// Returns: id, text STRING, source STRING or null
MATCH (memory:Memory {agentId: $agentId, ratingDue: true})
WHERE memory.held
RETURN memory.id AS id, memory.text AS text, memory.source AS source
ORDER BY memory.id
LIMIT $limit
