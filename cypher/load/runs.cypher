// Store runs of an export, as they were.
// rows LIST<MAP>: properties MAP
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (run:Run)
SET
  run = row.properties,
  run.agentId = $agentId
RETURN count(run) AS created
