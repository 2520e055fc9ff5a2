// As explain/edges, at a moment: what these memories rested on by then, and what had replaced what.
// Returns: type STRING, source, target STRING, properties MAP or empty, element STRING (the relationship itself)
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})-[edge:CITES|DERIVED_FROM|STALE_BECAUSE]->(other:Memory)
WHERE edge.since <= $asOf
RETURN
  type(edge) AS type,
  memory.id AS source,
  other.id AS target,
  properties(edge) AS properties,
  elementId(edge) AS element
UNION
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})-[edge:SUPERSEDES]->(older:Memory)
WHERE edge.at <= $asOf AND coalesce(edge.revokedAt > $asOf, true)
RETURN
  type(edge) AS type,
  memory.id AS source,
  older.id AS target,
  properties(edge) AS properties,
  elementId(edge) AS element
UNION
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})<-[edge:SUPERSEDES]-(newer:Memory)
WHERE edge.at <= $asOf AND coalesce(edge.revokedAt > $asOf, true)
RETURN
  type(edge) AS type,
  newer.id AS source,
  memory.id AS target,
  properties(edge) AS properties,
  elementId(edge) AS element
