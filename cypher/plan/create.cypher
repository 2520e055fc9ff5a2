// Write plans; what they rest on follows in the same transaction. The agent is locked.
// rows LIST<MAP>: properties MAP, embedding VECTOR or null (the text could not be embedded)
// runId STRING or null: the run that made them; null where a plan was divided without asking
// Returns: created INTEGER
MATCH (agent:Agent {id: $agentId})
SET agent.held = agent.held + size($rows)
WITH agent
UNWIND $rows AS row
CREATE (plan:Memory:Plan)
SET
  plan = row.properties,
  plan.agentId = $agentId,
  plan.embedding = toFloatList(row.embedding)
WITH plan
CALL (plan) {
  MATCH (run:Run {agentId: $agentId, id: $runId})
  CREATE (plan)-[:PRODUCED_BY]->(run)
}
RETURN count(plan) AS created
