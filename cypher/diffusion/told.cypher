// Who came to know a memory of an agent by being told: each way back to it, over utterances and what they tell.
// Returns: way LIST<MAP> (from the memory that was heard back to the origin: agentId, id, text STRING, at, recordedAt
// ZONED DATETIME, heard BOOLEAN: from another agent, status STRING)
MATCH (origin:Memory {agentId: $agentId, id: $id})
MATCH way = (origin) (()<-[:HEARD_FROM|TELLS]-(:Memory)){1,60} (told:Memory)
WHERE EXISTS { (told)-[:HEARD_FROM]->(:Memory) }
RETURN [memory IN reverse(nodes(way)) | {
  agentId: memory.agentId,
  id: memory.id,
  text: memory.text,
  at: memory.occurredAt,
  recordedAt: memory.recordedAt,
  heard: EXISTS { (memory)-[:HEARD_FROM]->(:Memory) },
  status: memory.status
}] AS way
LIMIT $limit
