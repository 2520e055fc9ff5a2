// What leaves an agent's changes of some revisions after one.
// Returns: source LIST<INTEGER>, name STRING, properties MAP or empty, labels LIST<STRING>, agent, target STRING (of
// where it leads)
MATCH (change:Change {agentId: $agentId})-[edge]->(other)
WHERE change.seq > $after AND change.seq <= $after + $limit AND change.ordinal IS NOT NULL
RETURN
  [change.seq, change.ordinal] AS source,
  type(edge) AS name,
  properties(edge) AS properties,
  labels(other) AS labels,
  coalesce(other.agentId, other.scope) AS agent,
  coalesce(other.id, other.path) AS target
