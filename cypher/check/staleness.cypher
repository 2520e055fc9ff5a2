// The one rule, both directions: a held derived memory is stale exactly when a current ground has ended or is stale,
// or a ground is missing; what is cited as past has not ended while an unrevoked update supersedes it. On grounds without cycles this local form equals the rule about paths.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL AND memory.held AND NOT memory:Observation
WITH
  memory,
  coalesce(memory.missingGrounds, 0) > 0 OR EXISTS {
    (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground:Memory)
    WHERE CASE
      WHEN edge.past THEN NOT (ground.status = 'superseded' AND EXISTS {
        (ground)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
      })
      ELSE NOT ground.held OR ground.status = 'stale'
    END
  } AS shouldBeStale
WHERE (memory.status = 'stale') <> shouldBeStale
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  CASE WHEN shouldBeStale THEN 'is active but rests on what has ended' ELSE 'is stale without a cause' END AS problem
