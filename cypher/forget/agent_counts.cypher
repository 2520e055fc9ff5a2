// What forgetting a whole agent would delete.
// Returns: memories, runs, changes INTEGER
MATCH (agent:Agent {id: $agentId})
RETURN
  COUNT {
    MATCH (memory:Memory {agentId: $agentId})
    WHERE memory.id IS NOT NULL
  } AS memories,
  COUNT {
    MATCH (run:Run {agentId: $agentId})
    WHERE run.id IS NOT NULL
  } AS runs,
  COUNT {
    MATCH (change:Change {agentId: $agentId})
    WHERE change.seq IS NOT NULL AND change.ordinal IS NOT NULL
  } AS changes
