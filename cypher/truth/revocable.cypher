// Reflections on these memories that recompute had ended, and whose old grounds are all active again.
// Returns: id STRING, newer STRING or null (what replaced it, still held), made BOOLEAN or null
UNWIND $ids AS id
MATCH (ground:Memory {agentId: $agentId, id: id})
MATCH (ground)<-[edge:CITES WHERE edge.until IS NULL]-(memory:Memory)
WITH DISTINCT memory
WHERE memory.endedBy = 'recompute'
  AND NOT memory.held
  AND NOT EXISTS {
    (memory)-[edge:CITES WHERE edge.until IS NULL]->(other:Memory)
    WHERE CASE
      WHEN edge.past THEN NOT (other.status = 'superseded' AND EXISTS {
        (other)<-[change:SUPERSEDES WHERE change.mode = 'update' AND change.revokedAt IS NULL]-(:Memory)
      })
      ELSE other.status <> 'active'
    END
  }
OPTIONAL MATCH (memory)<-[change:SUPERSEDES WHERE change.revokedAt IS NULL]-(newer:Memory)
WITH memory, change, newer
WHERE newer IS NULL OR newer.held
RETURN memory.id AS id, newer.id AS newer, change.made AS made
ORDER BY memory.depth, id
