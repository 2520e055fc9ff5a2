// Join places with places of an export, as they were.
// rows LIST<MAP>: name STRING (of the relationship), source, target, properties MAP
// Returns: created INTEGER
UNWIND $rows AS row
MATCH (source:Place {scope: $agentId, path: row.source})
MATCH (target:Place {scope: $agentId, path: row.target})
CREATE (source)-[edge:$(row.name)]->(target)
SET edge = row.properties
RETURN count(edge) AS created
