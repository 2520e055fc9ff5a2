// What the runs of a language model have cost; an agentId of null: of all agents together.
// Returns: runs, promptTokens, completionTokens INTEGER, cost FLOAT or null (no price was known)
MATCH (agent:Agent)
WHERE agent.id STARTS WITH coalesce($agentId, '')
  AND ($agentId IS NULL OR agent.id = $agentId)
CALL (agent) {
  MATCH (run:Run {agentId: agent.id})
  WHERE run.id IS NOT NULL
  RETURN
    count(run) AS runs,
    sum(run.promptTokens) AS promptTokens,
    sum(run.completionTokens) AS completionTokens,
    CASE WHEN count(run.cost) > 0 THEN sum(run.cost) END AS cost
}
RETURN
  sum(runs) AS runs,
  sum(promptTokens) AS promptTokens,
  sum(completionTokens) AS completionTokens,
  CASE WHEN count(cost) > 0 THEN sum(cost) END AS cost
