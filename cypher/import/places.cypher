// The places that an agent knows, each in the one around it.
// rows LIST<MAP>: path, name STRING, parent STRING or null, lastSeenAt ZONED DATETIME or null
// Returns: places INTEGER
UNWIND $rows AS row
MERGE (place:Place {scope: $agentId, path: row.path})
  ON CREATE SET
    place.name = row.name,
    place.lastSeenAt = row.lastSeenAt
WITH collect({place: place, parent: row.parent}) AS known
UNWIND known AS item
OPTIONAL MATCH (parent:Place {scope: $agentId, path: item.parent})
WITH item.place AS place, parent
CALL (place, parent) {
  WITH *
  WHERE parent IS NOT NULL
  MERGE (place)-[:IN]->(parent)
}
RETURN count(place) AS places
