// Keyed facts: of the values of a key that were neither retracted nor corrected, the last in order is held, unless it
// was forgotten, and no other is; each of the others is superseded by the next.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.key IS NOT NULL AND memory.id IS NOT NULL AND (memory.held OR memory.endedBy IN ['key', 'forget'])
WITH memory
ORDER BY memory.key, memory.occurredAt, memory.keyRank, memory.id
WITH memory.key AS key, collect(memory) AS values
UNWIND range(0, size(values) - 1) AS place
WITH values[place] AS memory, values[place + 1] AS next
WHERE (next IS NULL AND NOT memory.held AND memory.status <> 'forgotten')
   OR (next IS NOT NULL AND memory.held)
   OR (next IS NOT NULL AND NOT EXISTS { (memory)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(next) })
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  CASE
    WHEN next IS NULL THEN 'is the latest value of its key, but not held'
    WHEN memory.held THEN 'is held beside a later value of its key, ' + next.id
    ELSE 'is not superseded by the next value of its key, ' + next.id
  END AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.key IS NOT NULL AND memory.id IS NOT NULL AND (memory.keyRank IS NULL OR NOT memory:Observation)
RETURN memory.agentId AS agentId, memory.id AS id, 'has a key, but no place in its order' AS problem
