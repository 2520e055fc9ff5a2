// Plans without parts whose time is over and of which nobody has said what became of them. An agent that did one part
// of a plan at the moment that was looked at did the others in between.
// since ZONED DATETIME: none of them begins before
// Returns: id STRING, acted BOOLEAN
MATCH (plan:Memory {agentId: $agentId})
USING INDEX SEEK plan:Memory(agentId, start)
WHERE plan.start >= $since
  AND plan.start < $at
  AND plan.end <= $at
  AND plan:Plan
  AND plan.held
  AND plan.state IN ['planned', 'active']
  AND NOT EXISTS { (plan)<-[:DERIVED_FROM {part: true}]-(:Memory {held: true}) }
OPTIONAL MATCH (plan)-[:DERIVED_FROM {part: true}]->(:Memory)<-[:DERIVED_FROM {part: true}]-(other:Memory)
WITH plan, [plan.id] + collect(other.id) AS ids
RETURN
  plan.id AS id,
  EXISTS {
    MATCH (step:Step {agentId: $agentId, simulation: $simulation})
    WHERE step.number >= 0 AND step.planId IN ids
  } AS acted
ORDER BY id
