// Places that an agent knows of without having seen them since: what it knew before stays as it is.
// rows LIST<MAP>: path, name, kind STRING, parent STRING or null, hours, staff, uses LIST<STRING>, capacity INTEGER or null;
// the places around a place come before it
// Returns: places INTEGER
UNWIND $rows AS row
MERGE (place:Place {scope: $agentId, path: row.path})
  ON CREATE SET
    place.name = row.name,
    place.kind = row.kind,
    place.capacity = row.capacity,
    place.hours = row.hours,
    place.staff = row.staff,
    place.uses = row.uses,
    place.rest = row.rest
WITH collect({place: place, parent: row.parent}) AS known
UNWIND known AS item
CALL (item) {
  MATCH (parent:Place {scope: $agentId, path: item.parent})
  WITH item.place AS place, parent
  MERGE (place)-[:IN]->(parent)
}
RETURN count(item) AS places
