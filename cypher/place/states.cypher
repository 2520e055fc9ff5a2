// States of objects, changed by whoever acts on them.
// rows LIST<MAP>: path, state STRING, by STRING or null
// Returns: changed INTEGER
UNWIND $rows AS row
MATCH (object:Place {scope: '', path: row.path})
WHERE object.state <> row.state
SET
  object.state = row.state,
  object.stateSince = $now,
  object.stateBy = row.by
RETURN count(object) AS changed
