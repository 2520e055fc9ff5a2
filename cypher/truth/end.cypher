// End memories that are held: no longer held, and out of both indexes. cause: caller, key, recompute, restore or forget.
// Returns: ended INTEGER
MATCH (agent:Agent {id: $agentId})
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
SET
  memory:Ended,
  memory.status = $status,
  memory.held = false,
  memory.endedAt = $now,
  memory.endedBy = $cause,
  memory.scopeToken = null,
  memory.leaseToken = null,
  memory.leaseUntil = null
REMOVE memory:Stale
WITH agent, count(memory) AS ended
SET agent.held = agent.held - ended
RETURN ended
