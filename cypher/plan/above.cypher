// The unfinished plan that a plan is a part of, with what became of its parts. No row: it is a part of none.
// Returns: id STRING, undone, done, missed INTEGER (parts not finished, done, missed), complete BOOLEAN (they fill it)
MATCH (:Memory {agentId: $agentId, id: $id})-[:DERIVED_FROM {part: true}]->(plan:Memory)
WHERE plan.held AND plan.state IN ['planned', 'active']
MATCH (plan)<-[:DERIVED_FROM {part: true}]-(part:Memory)
WHERE part.held
WITH
  plan,
  count(CASE WHEN part.state IN ['planned', 'active'] THEN 1 END) AS undone,
  count(CASE WHEN part.state = 'done' THEN 1 END) AS done,
  count(CASE WHEN part.state = 'missed' THEN 1 END) AS missed,
  max(part.end) AS last
RETURN plan.id AS id, undone, done, missed, last >= plan.end AS complete
