// Keep a stale memory's lease from ending while somebody thinks about it; nothing when another has claimed it since.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, id: $id})
WHERE memory.leaseToken = $token
SET memory.leaseUntil = datetime() + duration({seconds: $leaseSeconds})
RETURN memory.id AS id
