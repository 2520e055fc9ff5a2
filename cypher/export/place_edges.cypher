// What leaves the places that an agent knows.
// Returns: source, name STRING, properties MAP or empty, labels LIST<STRING>, agent, target STRING (of where it leads)
MATCH (place:Place {scope: $agentId})-[edge]->(other)
WHERE place.path IS NOT NULL
RETURN
  place.path AS source,
  type(edge) AS name,
  properties(edge) AS properties,
  labels(other) AS labels,
  coalesce(other.agentId, other.scope) AS agent,
  coalesce(other.id, other.path) AS target
