// Take memories out again that were put away.
// Returns: ids LIST<STRING>: those that were archived
MATCH (agent:Agent {id: $agentId})
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.status = 'archived'
SET
  memory.status = 'active',
  memory.held = true,
  memory.scopeToken = $scopeToken
REMOVE memory:Archived
WITH agent, collect(memory.id) AS ids
SET agent.held = agent.held + size(ids)
RETURN ids
