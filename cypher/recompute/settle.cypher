// End the lease and forget earlier failures: the memory was recomputed.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, id: $id})
SET
  memory.leaseToken = null,
  memory.leaseUntil = null,
  memory.attempts = null,
  memory.lastError = null,
  memory.nextAttemptAt = null
RETURN memory.id AS id
