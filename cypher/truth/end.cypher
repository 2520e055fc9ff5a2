// End a memory: no longer held, and out of both indexes.
MATCH (memory:Memory {agentId: $agentId, id: $id})
SET
  memory.status = $status,
  memory.held = false,
  memory.endedAt = $now,
  memory.scopeToken = null,
  memory.leaseToken = null,
  memory.leaseUntil = null
RETURN memory.id AS id
