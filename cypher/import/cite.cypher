// Citations of new reflections.
// rows LIST<MAP>: source, target STRING, rank INTEGER, since ZONED DATETIME
// Returns: created INTEGER
UNWIND $rows AS row
MATCH (reflection:Memory {agentId: $agentId, id: row.source})
MATCH (ground:Memory {agentId: $agentId, id: row.target})
CREATE (reflection)-[cites:CITES {rank: row.rank, since: row.since}]->(ground)
RETURN count(cites) AS created
