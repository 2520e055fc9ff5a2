// Lease stale reflections that are ready: no current ground, chains of supersession followed to their heads, is
// stale. Lowest first. Leases and back-off use the server's clock.
// Returns: id STRING
MATCH (memory:Memory {agentId: $agentId, status: 'stale'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL
  AND memory:Reflection
  AND coalesce(memory.leaseUntil < datetime(), true)
  AND coalesce(memory.nextAttemptAt <= datetime(), true)
  AND NOT EXISTS {
    (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)
    (()<-[change:SUPERSEDES WHERE change.revokedAt IS NULL]-(:Memory)){0,}
    (head:Memory {status: 'stale'})
  }
  AND NOT EXISTS {
    (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground:Memory WHERE NOT ground.held)
    -[revoked:SUPERSEDES WHERE revoked.revokedAt IS NOT NULL]->(:Memory {status: 'stale'})
  }
WITH memory
ORDER BY memory.depth, memory.id
LIMIT $limit
SET
  memory.leaseToken = $token,
  memory.leaseUntil = datetime() + duration({seconds: $leaseSeconds})
RETURN memory.id AS id
