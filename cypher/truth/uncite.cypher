// End the citations of a reflection whose targets are not among those to keep; what it rested on that could not be
// found is no longer among its grounds either. keep, keepPast LIST<STRING>: what it cites as it is, and as it was.
// moved MAP: by the id of a target, what stands in its place now and is cited instead
// Returns: ended INTEGER
MATCH (reflection:Memory {agentId: $agentId, id: $id})
SET reflection.missingGrounds = null
WITH reflection
MATCH (reflection)-[edge:CITES WHERE edge.until IS NULL]->(ground:Memory)
WHERE NOT ground.id IN CASE WHEN edge.past THEN $keepPast ELSE $keep END
SET
  edge.until = $now,
  edge.movedTo = CASE WHEN edge.past THEN null ELSE $moved[ground.id] END
RETURN count(edge) AS ended
