// Places of the world, each in the one around it. What is there already keeps the state that it is in.
// rows LIST<MAP>: path, name, kind STRING, parent STRING or null, capacity INTEGER or null, hours, staff, uses LIST<STRING>,
// rest STRING or null, timeZone STRING or null; the places around a place come before it
// Returns: places INTEGER
UNWIND $rows AS row
MERGE (place:Place {scope: '', path: row.path})
  ON CREATE SET
    place.state = row.rest,
    place.stateSince = CASE WHEN row.rest IS NULL THEN null ELSE $now END
SET
  place.name = row.name,
  place.kind = row.kind,
  place.capacity = row.capacity,
  place.hours = row.hours,
  place.staff = row.staff,
  place.uses = row.uses,
  place.rest = row.rest,
  place.timeZone = row.timeZone
WITH collect({place: place, parent: row.parent}) AS built
UNWIND built AS item
CALL (item) {
  MATCH (parent:Place {scope: '', path: item.parent})
  WITH item.place AS place, parent
  MERGE (place)-[:IN]->(parent)
}
RETURN count(item) AS places
