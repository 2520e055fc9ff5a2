// The one rule of truth, restored above what changed, in both directions and at any depth: a held derived memory is
// stale exactly when a path of current grounds leads from it to an ended memory (a missing ground counts as ended).
// Of all held memories above the change, those with an ended ground, or with a stale ground outside that set, are
// stale, and so is everything of the set above them; the rest is active. STALE_BECAUSE names each ground at fault.
// A memory cited as past is good exactly while an unrevoked update supersedes it; otherwise it counts as ended.
// Returns: wasStale, nowStale LIST<STRING>: ids of the memories above the change, the shallowest first
MATCH (changed:Memory {agentId: $agentId})
WHERE changed.id IN $ids
CALL (changed) {
  MATCH (changed)
    (()<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(upper:Memory WHERE upper.held)){0,}
    (above:Memory)
  RETURN DISTINCT above
}
WITH DISTINCT above
WHERE above.held AND NOT above:Observation
WITH collect(above) AS affected
WITH affected, [memory IN affected WHERE memory.status = 'stale'] AS wasStale
FOREACH (memory IN wasStale |
  SET memory.status = 'active'
  REMOVE memory:Stale)
WITH affected, wasStale
CALL (affected) {
  UNWIND affected AS memory
  WITH memory
  WHERE memory.missingGrounds > 0 OR EXISTS {
    (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground:Memory)
    WHERE CASE
      WHEN edge.past THEN NOT (ground.status = 'superseded' AND EXISTS {
        (ground)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
      })
      ELSE NOT ground.held OR ground.status = 'stale'
    END
  }
  CALL (memory) {
    MATCH (memory)
      (()<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(upper:Memory WHERE upper.held)){0,}
      (above:Memory)
    RETURN DISTINCT above
  }
  RETURN collect(DISTINCT above) AS nowStale
}
FOREACH (memory IN nowStale |
  SET memory.status = 'stale', memory:Stale)
WITH affected, wasStale, nowStale
CALL (affected) {
  UNWIND affected AS memory
  MATCH (memory)-[because:STALE_BECAUSE WHERE because.until IS NULL]->(ground)
  WHERE NOT EXISTS {
    MATCH (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground)
    WHERE CASE
      WHEN edge.past THEN NOT (ground.status = 'superseded' AND EXISTS {
        (ground)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
      })
      ELSE NOT ground.held OR ground.status = 'stale'
    END
  }
  SET because.until = $now
}
CALL (nowStale) {
  UNWIND nowStale AS memory
  MATCH (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(ground:Memory)
  WHERE CASE
    WHEN edge.past THEN NOT (ground.status = 'superseded' AND EXISTS {
      (ground)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
    })
    ELSE NOT ground.held OR ground.status = 'stale'
  END
    AND NOT EXISTS { (memory)-[because:STALE_BECAUSE WHERE because.until IS NULL]->(ground) }
  WITH DISTINCT memory, ground
  // Not before the ground ended, nor before the agent came to hold what is stale.
  UNWIND [$now, ground.endedAt, memory.recordedAt] AS moment
  WITH memory, ground, max(moment) AS since
  CREATE (memory)-[:STALE_BECAUSE {since: since}]->(ground)
}
CALL (nowStale) {
  UNWIND nowStale AS memory
  WITH memory
  ORDER BY memory.depth, memory.id
  RETURN collect(memory.id) AS nowStaleIds
}
RETURN
  [memory IN wasStale | memory.id] AS wasStale,
  nowStaleIds AS nowStale
