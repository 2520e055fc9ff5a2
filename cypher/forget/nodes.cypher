// Every text on the nodes of an agent, but for what is derived from times, hashed, or of a fixed set of words.
// plain LIST<STRING>: properties to leave out
// Returns: element, label, id STRING, texts LIST<LIST> (pairs of property and STRING or LIST<STRING>)
CALL () {
  MATCH (node:Memory {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Run {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Change {agentId: $agentId})
  WHERE node.seq IS NOT NULL AND node.ordinal IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Agent {id: $agentId})
  RETURN node
  UNION ALL
  MATCH (node:Place {scope: $agentId})
  WHERE node.path IS NOT NULL
  RETURN node
  UNION ALL
  MATCH (node:Step {agentId: $agentId})
  WHERE node.simulation IS NOT NULL AND node.number IS NOT NULL
  RETURN node
}
WITH node, CASE
  // What a place is called is a name; what state the agent saw it in is its own.
  WHEN node:Place THEN ['path', 'state']
  WHEN node:Step THEN ['place', 'object']
  ELSE [name IN keys(node) WHERE NOT name IN $plain]
END AS names
WITH node, [name IN names WHERE node[name] IS :: STRING NOT NULL | name] AS strings,
     [name IN names WHERE node[name] IS :: LIST<STRING NOT NULL> NOT NULL | name] AS lists
RETURN
  elementId(node) AS element,
  labels(node)[0] AS label,
  coalesce(node.id, toString(node.seq), node.path, toString(node.number)) AS id,
  [name IN strings + lists | [name, node[name]]] AS texts
