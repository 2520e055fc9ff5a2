// Which of these memories a retention policy puts away: active observations of little importance that happened, were
// recorded and were last retrieved before a moment. Nothing that another memory rests on, ended ones included; no
// value of a key, since the last of them says what holds; and nothing in a chain of corrections, where a restore or a
// recompute looks for what stands in its place.
// Returns: id STRING, kept STRING or null (ground | key | chain: what keeps it although the policy is about it)
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory:Observation
  AND memory.status = 'active'
  AND memory.importance < $importanceBelow
  AND memory.occurredAt < $before
  AND memory.recordedAt < $before
  AND memory.lastAccessedAt < $before
RETURN
  memory.id AS id,
  CASE
    WHEN EXISTS { (memory)<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(:Memory) } THEN 'ground'
    WHEN memory.key IS NOT NULL THEN 'key'
    WHEN EXISTS { (memory)-[:SUPERSEDES]-(:Memory) } THEN 'chain'
  END AS kept
