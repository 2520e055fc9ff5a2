// What is news to another: the weightiest that an agent came to know of late, but for what it only said itself, and
// whether the other knows it, as one who told it or was told it or the same from where it began. What was said in the conversation itself does not count,
// so that one that was cut off is about the same again.
// least INTEGER: importance from which on something is news. since ZONED DATETIME: nothing from before
// other STRING: the other agent's id. session STRING: the conversation
// Returns: id, text STRING, importance INTEGER, at ZONED DATETIME, known BOOLEAN
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, importance, lastAccessedAt)
WHERE memory.importance >= $least
  AND memory.lastAccessedAt IS NOT NULL
  AND memory.recordedAt >= $since
  AND memory:Observation
  AND coalesce(memory.session <> $session, true)
  AND NOT EXISTS { (memory)-[:TELLS]->(:Memory) }
RETURN
  memory.id AS id,
  memory.text AS text,
  memory.importance AS importance,
  memory.occurredAt AS at,
  EXISTS { (memory)-[:HEARD_FROM]->(:Memory {agentId: $other}) }
    OR EXISTS {
      (memory)<-[:TELLS]-(said:Memory)<-[:HEARD_FROM]-(:Memory {agentId: $other})
      WHERE coalesce(said.session <> $session, true)
    }
    OR EXISTS {
      (memory) (()-[:HEARD_FROM|TELLS]->(:Memory)){1,40} (origin:Memory)
      (()<-[:HEARD_FROM|TELLS]-(:Memory)){1,40} (same:Memory {agentId: $agentId})
      WHERE coalesce(same.session <> $session, true)
        AND EXISTS { (same)-[:HEARD_FROM]-(:Memory {agentId: $other}) }
    } AS known
