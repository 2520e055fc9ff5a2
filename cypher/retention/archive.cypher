// Put memories away: out of retrieval, by the filter of the vector index and the scope of the full-text index. They
// stay in the graph as they are.
// Returns: archived INTEGER
MATCH (agent:Agent {id: $agentId})
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
SET
  memory:Archived,
  memory.status = 'archived',
  memory.held = false,
  memory.scopeToken = null
WITH agent, count(memory) AS archived
SET agent.held = agent.held - archived
RETURN archived
