// Whether the lease of a stale memory still holds; no row: it does not, and the work came too late.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, id: $id})
WHERE memory.status = 'stale'
  AND memory.leaseToken = $token
  AND memory.leaseUntil > datetime()
RETURN memory.id AS id
