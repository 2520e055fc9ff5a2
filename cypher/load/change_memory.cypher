// Join changes with memories of an export, as they were.
// rows LIST<MAP>: name STRING (of the relationship), source, target, properties MAP
// Returns: created INTEGER
UNWIND $rows AS row
MATCH (source:Change {agentId: $agentId, seq: row.source[0], ordinal: row.source[1]})
MATCH (target:Memory {agentId: $agentId, id: row.target})
CREATE (source)-[edge:$(row.name)]->(target)
SET edge = row.properties
RETURN count(edge) AS created
