// What replaced one memory, what it replaced, and what made it stale, each with the change that ended the other
// memory in the same moment: a ground that merely turned stale has none.
// ends LIST<STRING>: verbs of the log that end a memory
// Returns: type STRING, newer BOOLEAN (of a SUPERSEDES: the memory is its newer end), edge MAP (its properties),
// other MAP {id, text}, change MAP or null
MATCH (memory:Memory {agentId: $agentId, id: $id})
MATCH (memory)-[edge:SUPERSEDES|STALE_BECAUSE]-(other:Memory)
WHERE type(edge) = 'SUPERSEDES' OR startNode(edge) = memory
RETURN
  type(edge) AS type,
  startNode(edge) = memory AS newer,
  properties(edge) AS edge,
  other {.id, .text} AS other,
  head(COLLECT {
    MATCH (other)<-[:OF]-(change:Change)
    WHERE change.at = coalesce(edge.at, edge.since) AND change.verb IN $ends
    RETURN change {.*} AS change
    ORDER BY change.seq DESC
    LIMIT 1
  }) AS change
