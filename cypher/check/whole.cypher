// Nodes have what each of their kind has; what was deleted by hand can be neither read nor told apart from what is
// being forgotten at this moment.
// always MAP: agent, memory, run, change, place LIST<STRING>: the properties of each kind
// Returns: agentId, id, problem STRING
CALL () {
  MATCH (node:Agent {id: $agentId})
  RETURN node, 'agent' AS kind
  UNION ALL
  MATCH (node:Memory {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node, 'memory' AS kind
  UNION ALL
  MATCH (node:Run {agentId: $agentId})
  WHERE node.id IS NOT NULL
  RETURN node, 'run' AS kind
  UNION ALL
  MATCH (node:Change {agentId: $agentId})
  WHERE node.seq IS NOT NULL AND node.ordinal IS NOT NULL
  RETURN node, 'change' AS kind
  UNION ALL
  MATCH (node:Place {scope: $agentId})
  WHERE node.path IS NOT NULL
  RETURN node, 'place' AS kind
}
WITH node, kind, [name IN $always[kind] WHERE node[name] IS NULL] AS missing
WHERE size(missing) > 0
RETURN
  $agentId AS agentId,
  coalesce(node.id, node.path, toString(node.seq), elementId(node)) AS id,
  kind + ' without ' + reduce(all = '', name IN missing | CASE all WHEN '' THEN '' ELSE all + ', ' END + name) AS problem
