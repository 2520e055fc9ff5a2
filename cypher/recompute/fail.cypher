// Note a failed attempt: the memory stays stale and is tried again later, each time after twice as long.
// Returns: attempts INTEGER
MATCH (memory:Memory {agentId: $agentId, id: $id})
WHERE memory.leaseToken = $token
SET
  memory.attempts = coalesce(memory.attempts, 0) + 1,
  memory.lastError = $error,
  memory.nextAttemptAt = datetime() + duration({seconds: $backoffSeconds * 2 ^ coalesce(memory.attempts, 0)}),
  memory.leaseToken = null,
  memory.leaseUntil = null
RETURN memory.attempts AS attempts
