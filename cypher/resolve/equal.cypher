// Active memories of the same normalised text as one, which retrieval joins into one hit.
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (memory:Memory {agentId: $agentId, id: $id})
MATCH (other:Memory {agentId: $agentId, textHash: memory.textHash})
WHERE other.id <> memory.id AND other.status = 'active'
RETURN other {.*, embedding: null} AS memory, labels(other) AS labels
ORDER BY other.recordedAt, other.id
LIMIT $limit
