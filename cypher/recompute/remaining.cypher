// How many reflections are stale (plans are planned anew, not recomputed), and how many of those a worker has leased.
// Returns: remaining, leased INTEGER
MATCH (memory:Memory {agentId: $agentId, status: 'stale'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory:Reflection
RETURN
  count(memory) AS remaining,
  count(CASE WHEN memory.leaseUntil > datetime() THEN 1 END) AS leased
