// What has ended, or was put away, is marked so everywhere: status, held, the time where it has ended, and out of the
// full-text index's scope. What was forgotten has no text and no vector.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
WITH memory, memory.status IN ['superseded', 'retracted', 'forgotten'] AS ended
WHERE memory.held = (ended OR memory.status = 'archived')
   OR (memory.endedAt IS NOT NULL) <> ended
   OR (memory.scopeToken IS NULL) = memory.held
   OR memory.text IS NULL
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  'is ' + coalesce(memory.status, 'of no status') + ', but not marked so everywhere' AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
  AND (memory.text = '' OR memory.forgottenAt IS NOT NULL OR memory.status = 'forgotten')
  AND NOT (memory.text = '' AND memory.forgottenAt IS NOT NULL AND memory.status = 'forgotten' AND memory.embedding IS NULL)
RETURN memory.agentId AS agentId, memory.id AS id, 'is a tombstone only in part' AS problem
