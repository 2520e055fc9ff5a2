// Every text on the relationships of an agent's memories and runs.
// plain LIST<STRING>: properties to leave out
// Returns: element STRING, label STRING (the type), id STRING (of the memory or run at its beginning), texts LIST<LIST>
// (pairs of property and STRING)
CALL () {
  MATCH (node:Memory {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Run {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node
}
MATCH (node)-[edge]->()
WITH node, edge, [name IN keys(edge) WHERE NOT name IN $plain AND edge[name] IS :: STRING] AS names
WHERE size(names) > 0
RETURN
  elementId(edge) AS element,
  type(edge) AS label,
  node.id AS id,
  [name IN names | [name, edge[name]]] AS texts
