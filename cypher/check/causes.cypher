// An open STALE_BECAUSE stands exactly where a held memory has a current ground that has ended or is stale.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground:Memory)
WHERE memory.id IS NOT NULL
  AND memory.held
  AND CASE
    WHEN edge.past THEN NOT (ground.status = 'superseded' AND EXISTS {
      (ground)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
    })
    ELSE NOT ground.held OR ground.status = 'stale'
  END
  AND NOT EXISTS { (memory)-[because:STALE_BECAUSE WHERE because.until IS NULL]->(ground) }
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  'lacks the cause ' + coalesce(ground.id, elementId(ground)) AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})-[because:STALE_BECAUSE WHERE because.until IS NULL]->(ground:Memory)
WHERE memory.id IS NOT NULL
  AND memory.held
  AND NOT EXISTS {
    MATCH (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground)
    WHERE CASE
      WHEN edge.past THEN NOT (ground.status = 'superseded' AND EXISTS {
        (ground)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
      })
      ELSE NOT ground.held OR ground.status = 'stale'
    END
  }
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  'has the cause ' + coalesce(ground.id, elementId(ground)) + ' for no reason' AS problem
