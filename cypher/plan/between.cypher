// Held plans that reach into a span of time, in order. since: no plan that reaches into it begins before.
// Returns: memory MAP (without its vector), labels LIST<STRING>, parent STRING or null (the plan that it is a part of),
// parts INTEGER (held plans that are a part of it)
MATCH (plan:Memory {agentId: $agentId})
USING INDEX SEEK plan:Memory(agentId, start)
WHERE plan.start >= $since AND plan.start < $until AND plan.end > $from AND plan:Plan AND plan.held
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
ORDER BY plan.start, plan.end DESC, plan.id
