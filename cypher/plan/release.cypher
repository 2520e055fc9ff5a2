// Let plans rest on nothing any more: what is over is history, whatever becomes of its grounds.
// Returns: released INTEGER
UNWIND $ids AS id
MATCH (plan:Memory {agentId: $agentId, id: id})-[edge:DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)
SET edge.until = $now
RETURN count(edge) AS released
