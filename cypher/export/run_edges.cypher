// What leaves runs.
// Returns: source, name STRING, properties MAP or empty, labels LIST<STRING>, agent, target STRING (of where it leads)
UNWIND $ids AS id
MATCH (run:Run {agentId: $agentId, id: id})-[edge]->(other)
RETURN
  id AS source,
  type(edge) AS name,
  properties(edge) AS properties,
  labels(other) AS labels,
  coalesce(other.agentId, other.scope) AS agent,
  coalesce(other.id, other.path) AS target
