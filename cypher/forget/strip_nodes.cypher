// Take texts away from nodes of an agent.
// rows LIST<MAP>: element STRING, property STRING, value STRING, LIST<STRING> or null, embed BOOLEAN (the vector was of
// that text as well, so it goes too, and is made again)
// Returns: stripped INTEGER
UNWIND $rows AS row
MATCH (node)
WHERE elementId(node) = row.element AND $agentId IN [node.agentId, node.id, node.scope]
SET node[row.property] = row.value
FOREACH (_ IN CASE WHEN row.embed THEN [1] ELSE [] END |
  SET
    node.embedding = null,
    node.embeddingModel = null,
    node.embeddingNext = null,
    node.embeddingNextModel = null,
    node.notEmbedded = true)
RETURN count(node) AS stripped
