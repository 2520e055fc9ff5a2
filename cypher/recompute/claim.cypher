// Lease stale reflections that are ready: nothing is stale that stands in the place of a current ground, as
// recompute/grounds finds it: the head of its chain of supersession or, where a restore ended that head, what was restored.
// Lowest first. Leases and back-off use the server's clock.
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
    MATCH (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)
      (()<-[change:SUPERSEDES WHERE change.revokedAt IS NULL]-(:Memory)){0,}
      (head:Memory WHERE NOT head.held)
      -[revoked:SUPERSEDES WHERE revoked.revokedAt IS NOT NULL]->(restored:Memory {status: 'stale'})
    WHERE NOT EXISTS { (head)<-[later:SUPERSEDES WHERE later.revokedAt IS NULL]-(:Memory) }
      AND NOT EXISTS {
        MATCH (head)-[other:SUPERSEDES WHERE other.revokedAt IS NOT NULL]->(standing:Memory WHERE standing.held)
        WHERE other.revokedAt > revoked.revokedAt
          OR (other.revokedAt = revoked.revokedAt AND standing.id < restored.id)
      }
  }
WITH memory
ORDER BY memory.depth, memory.id
LIMIT $limit
SET
  memory.leaseToken = $token,
  memory.leaseUntil = datetime() + duration({seconds: $leaseSeconds})
RETURN memory.id AS id
