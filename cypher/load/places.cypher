// Store places of an export, as they were.
// rows LIST<MAP>: properties MAP
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (place:Place)
SET
  place = row.properties,
  place.scope = $agentId
RETURN count(place) AS created
