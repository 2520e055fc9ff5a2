// Plans of which it was said since a moment what became of them, the latest first.
// What only ended with the whole that it is a part of is left out, and so are steps that were done.
// since ZONED DATETIME or null: of all times
// Returns: memory MAP (without its vector), labels LIST<STRING>
MATCH (plan:Memory {agentId: $agentId})
USING INDEX SEEK plan:Memory(agentId, finishedAt)
WHERE plan.finishedAt IS NOT NULL
  AND coalesce(plan.finishedAt > $since, true)
  AND plan.status = 'active'
  AND (plan.kind <> 'step' OR plan.state <> 'done')
  AND NOT EXISTS {
    (plan)-[:DERIVED_FROM {part: true}]->(whole:Memory)
    WHERE whole.state = plan.state
  }
RETURN plan {.*, embedding: null} AS memory, labels(plan) AS labels
ORDER BY plan.finishedAt DESC, plan.start DESC, plan.id
LIMIT $limit
