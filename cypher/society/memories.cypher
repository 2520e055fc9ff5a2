// What an agent came to remember in a span of time, and what that rests on.
// Returns: memory MAP (without its vector), labels LIST<STRING>, grounds LIST<STRING> (of ids), heard
// LIST<LIST<STRING>> (of agent and id)
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL AND memory.status <> 'forgotten'
  AND memory.recordedAt >= $since AND memory.recordedAt < $until
CALL (memory) {
  OPTIONAL MATCH (memory)-[edge:CITES|DERIVED_FROM WHERE edge.part IS NULL]->(ground:Memory)
  RETURN collect(ground.id) AS grounds
}
CALL (memory) {
  OPTIONAL MATCH (memory)-[:HEARD_FROM]->(said:Memory)
  RETURN [pair IN collect([said.agentId, said.id]) WHERE pair[0] IS NOT NULL] AS heard
}
RETURN memory {.*, embedding: null} AS memory, labels(memory) AS labels, grounds, heard
