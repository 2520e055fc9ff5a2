// Status shows in the labels, too.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
  AND (
    memory:Stale <> (memory.status = 'stale')
    OR memory:Archived <> (memory.status = 'archived')
    OR memory:Ended = (memory.held OR memory.status = 'archived')
  )
RETURN
  memory.agentId AS agentId,
  memory.id AS id,
  'is ' + coalesce(memory.status, 'of no status') + ', but labelled '
    + reduce(all = '', label IN labels(memory) | all + ':' + label) AS problem
