// What plans rest on: the plan that they are a part of (part), and the memories that are their reasons.
// rows LIST<MAP>: source, target STRING, part BOOLEAN or null, rank INTEGER or null
// Returns: created INTEGER
UNWIND $rows AS row
MATCH (plan:Memory {agentId: $agentId, id: row.source})
MATCH (ground:Memory {agentId: $agentId, id: row.target})
CREATE (plan)-[derived:DERIVED_FROM {since: $now, part: row.part, rank: row.rank}]->(ground)
RETURN count(derived) AS created
