// What an agent sees of the world where it is: its own part of the tree is brought up to date, and dated.
// rows LIST<MAP>: path, name, kind STRING, parent STRING or null, hours, staff, uses LIST<STRING>, capacity INTEGER or null,
// state, rest STRING or null, stateSince ZONED DATETIME or null; the places around a place come before it
// Returns: places INTEGER
UNWIND $rows AS row
MERGE (place:Place {scope: $agentId, path: row.path})
SET
  place.name = row.name,
  place.kind = row.kind,
  place.capacity = row.capacity,
  place.hours = row.hours,
  place.staff = row.staff,
  place.uses = row.uses,
  place.state = row.state,
  place.rest = row.rest,
  place.stateSince = row.stateSince,
  place.lastSeenAt = $now
WITH collect({place: place, parent: row.parent}) AS seen
UNWIND seen AS item
CALL (item) {
  MATCH (parent:Place {scope: $agentId, path: item.parent})
  WITH item.place AS place, parent
  MERGE (place)-[:IN]->(parent)
}
RETURN count(item) AS places
