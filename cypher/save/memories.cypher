// A page of what an agent holds, in the order of ids, and what it rests on.
// after STRING: the last id of the page before
// Returns: memory MAP (without its vector), labels LIST<STRING>, cites LIST<MAP> (of id and rank), parents
// LIST<STRING>, heard LIST<LIST<STRING>> (of agent and id)
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id > $after AND memory.held
WITH memory
ORDER BY memory.id
LIMIT $limit
CALL (memory) {
  OPTIONAL MATCH (memory)-[cites:CITES WHERE cites.until IS NULL]->(ground:Memory)
  RETURN [cite IN collect({id: ground.id, rank: cites.rank}) WHERE cite.id IS NOT NULL] AS cites
}
CALL (memory) {
  OPTIONAL MATCH (memory)-[:DERIVED_FROM {part: true}]->(parent:Memory)
  RETURN collect(parent.id) AS parents
}
CALL (memory) {
  OPTIONAL MATCH (memory)-[:HEARD_FROM]->(said:Memory)
  RETURN [pair IN collect([said.agentId, said.id]) WHERE pair[0] IS NOT NULL] AS heard
}
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels, cites, parents, heard
