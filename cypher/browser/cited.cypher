// What most rests on: the ten memories that are cited most, with what cites them.
// :param agentId => 'ines'
// Returns: cited NODE, citations INTEGER, citation PATH
MATCH (cited:Memory {agentId: $agentId})
WHERE cited.id IS NOT NULL
WITH
  cited,
  COUNT { (cited)<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(:Memory) } AS citations
WHERE citations > 0
ORDER BY citations DESC, cited.id
LIMIT 10
MATCH citation = (cited)<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(:Memory)
RETURN cited, citations, citation
ORDER BY citations DESC, cited.id
