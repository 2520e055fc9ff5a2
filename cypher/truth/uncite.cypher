// End the citations of a reflection whose targets are not among those to keep.
MATCH (reflection:Reflection {agentId: $agentId, id: $id})-[edge:CITES WHERE edge.until IS NULL]->(ground:Memory)
WHERE NOT ground.id IN $keep
SET edge.until = $now
RETURN count(edge) AS ended
