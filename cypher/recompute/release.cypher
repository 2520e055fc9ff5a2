// Give up the leases of a token; the memories stay as they are.
// Returns: released INTEGER
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.leaseToken = $token
SET
  memory.leaseToken = null,
  memory.leaseUntil = null
RETURN count(memory) AS released
