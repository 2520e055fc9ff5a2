// What was or is planned at a moment: plans around it that are held, or that ended only later.
// since: no plan around the moment begins before.
// Returns: memory MAP (without its vector), labels LIST<STRING>, parent STRING or null, parts INTEGER
MATCH (plan:Memory {agentId: $agentId})
USING INDEX SEEK plan:Memory(agentId, start)
WHERE plan.start >= $since
  AND plan.start <= $at
  AND plan.end > $at
  AND plan:Plan
  AND plan.status <> 'forgotten'
  AND (plan.held OR plan.endedAt > $at)
CALL (plan) {
  OPTIONAL MATCH (plan)-[edge:DERIVED_FROM {part: true}]->(parent:Memory)
  RETURN parent.id AS parent
  ORDER BY edge.since DESC
  LIMIT 1
}
RETURN
  plan {.*, embedding: null} AS memory,
  labels(plan) AS labels,
  parent,
  COUNT { (plan)<-[:DERIVED_FROM {part: true}]-(:Memory {held: true}) } AS parts
ORDER BY plan.held DESC, plan.start DESC, plan.recordedAt DESC, plan.id
