// Part memories from all that they name, before they are joined again with what they still name.
// Returns: edges INTEGER
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})-[about:ABOUT]->(:Entity)
DELETE about
RETURN count(*) AS edges
