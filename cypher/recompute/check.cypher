// Whether the lease of a stale memory is still one's own: another claim overwrites the token. No row: it is not, and the
// work came too late.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, id: $id})
WHERE memory.status = 'stale'
  AND memory.leaseToken = $token
RETURN memory.id AS id
