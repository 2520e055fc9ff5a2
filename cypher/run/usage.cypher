// What an agent's runs have cost, by verb and model; runs that cost nothing are counted as well.
// Returns: verb, model STRING, runs, promptTokens, completionTokens INTEGER, cost FLOAT or null (no price was known)
MATCH (run:Run {agentId: $agentId})
WHERE run.id IS NOT NULL AND run.verb IS NOT NULL AND run.model IS NOT NULL
RETURN
  run.verb AS verb,
  run.model AS model,
  count(run) AS runs,
  sum(run.promptTokens) AS promptTokens,
  sum(run.completionTokens) AS completionTokens,
  CASE WHEN count(run.cost) > 0 THEN sum(run.cost) END AS cost
ORDER BY verb, model
