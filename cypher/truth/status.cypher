// The status of each of these memories, to be read after the agent was locked.
// Returns: id STRING, status STRING
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
RETURN memory.id AS id, memory.status AS status
