// End a memory: no longer held, and out of both indexes. cause: caller, recompute or restore.
MATCH (agent:Agent {id: $agentId})
MATCH (memory:Memory {agentId: $agentId, id: $id})
SET
  agent.held = agent.held - 1,
  memory:Ended,
  memory.status = $status,
  memory.held = false,
  memory.endedAt = $now,
  memory.endedBy = $cause,
  memory.scopeToken = null,
  memory.leaseToken = null,
  memory.leaseUntil = null
REMOVE memory:Stale
RETURN memory.id AS id
