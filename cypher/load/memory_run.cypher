// Join memories with runs of an export, as they were.
// rows LIST<MAP>: name STRING (of the relationship), source, target, properties MAP
// Returns: created INTEGER
UNWIND $rows AS row
MATCH (source:Memory {agentId: $agentId, id: row.source})
MATCH (target:Run {agentId: $agentId, id: row.target})
CREATE (source)-[edge:$(row.name)]->(target)
SET edge = row.properties
RETURN count(edge) AS created
