// Memories by id; ids that this agent lacks give no row.
// Returns: memory MAP (without its vector), labels LIST<STRING>
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels
