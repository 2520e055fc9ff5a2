// Hold a memory again that was superseded or retracted; relabelling decides whether it is active.
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
MATCH (memory:Memory {agentId: $agentId, id: $id})
SET
  agent.held = agent.held + 1,
  memory.status = 'active',
  memory.held = true,
  memory.endedAt = null,
  memory.endedBy = null,
  memory.scopeToken = $scopeToken
REMOVE memory:Ended
RETURN memory.id AS id
