// Store changes of an export, as they were.
// rows LIST<MAP>: properties MAP
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (change:Change)
SET
  change = row.properties,
  change.agentId = $agentId
RETURN count(change) AS created
