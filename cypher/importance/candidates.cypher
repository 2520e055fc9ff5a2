// Memories whose importance may be looked at again, those first that were longest not: active, and not rated by the
// caller. With what came of each since: the reflections that rest on it now, the most important first.
// Returns: memory MAP (without its vector), labels LIST<STRING>, later LIST<STRING>, citations, shown INTEGER
MATCH (memory:Memory {agentId: $agentId, status: 'active'})
USING INDEX SEEK memory:Memory(agentId, status, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory.importanceBy <> 'caller' AND memory.ratingDue IS NULL
WITH memory
ORDER BY coalesce(memory.reappraisedAt, memory.recordedAt), memory.id
LIMIT $limit
CALL (memory) {
  MATCH (memory)<-[cites:CITES]-(reflection:Memory)
  WHERE cites.until IS NULL AND reflection.status = 'active'
  WITH reflection
  ORDER BY reflection.importance DESC, reflection.id
  RETURN collect(reflection.text)[..$later] AS later, count(reflection) AS citations
}
RETURN
  memory {.*, embedding: null} AS memory,
  labels(memory) AS labels,
  later,
  citations,
  COUNT { (memory)<-[:USED]-(:Run) } AS shown
