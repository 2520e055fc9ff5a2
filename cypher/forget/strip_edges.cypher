// Take texts away from relationships.
// rows LIST<MAP>: element STRING, property STRING, value STRING or null
// Returns: stripped INTEGER
UNWIND $rows AS row
MATCH ()-[edge]->()
WHERE elementId(edge) = row.element
SET edge[row.property] = row.value
RETURN count(edge) AS stripped
