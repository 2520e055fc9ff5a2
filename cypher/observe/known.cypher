// Which of these ids the agent has already.
// Returns: id STRING, contentHash STRING, status STRING
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
RETURN memory.id AS id, memory.contentHash AS contentHash, memory.status AS status
