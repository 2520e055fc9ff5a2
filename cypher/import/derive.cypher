// What new plans are a part of. Those that are over rest on nothing any more: they are history.
// rows LIST<MAP>: source, target STRING, since ZONED DATETIME, until ZONED DATETIME or null
// Returns: created INTEGER
UNWIND $rows AS row
MATCH (plan:Memory {agentId: $agentId, id: row.source})
MATCH (parent:Memory {agentId: $agentId, id: row.target})
CREATE (plan)-[derived:DERIVED_FROM {since: row.since, until: row.until, part: true}]->(parent)
RETURN count(derived) AS created
