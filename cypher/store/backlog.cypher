// Since when each agent with stale memories has the oldest of them waiting for its recompute, and how many failed; an
// agentId of null: every agent.
// Returns: id STRING, staleSince ZONED DATETIME or null (an imported one was stale from the start), failing INTEGER
MATCH (agent:Agent)
WHERE agent.id STARTS WITH coalesce($agentId, '')
  AND ($agentId IS NULL OR agent.id = $agentId)
CALL (agent) {
  MATCH (memory:Memory {agentId: agent.id, status: 'stale'})
  WHERE memory.occurredAt IS NOT NULL
  OPTIONAL MATCH (memory)-[because:STALE_BECAUSE WHERE because.until IS NULL]->(:Memory)
  RETURN
    min(because.since) AS staleSince,
    count(DISTINCT CASE WHEN memory.attempts > 0 THEN memory END) AS failing,
    count(memory) AS stale
}
WITH agent, staleSince, failing, stale
WHERE stale > 0
RETURN agent.id AS id, staleSince, failing
ORDER BY id
