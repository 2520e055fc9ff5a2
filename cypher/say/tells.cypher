// Which of its memories an utterance tells, and the run that it was said in (null: none). The speaker is locked.
// Returns: tells INTEGER
MATCH (utterance:Memory {agentId: $agentId, id: $id})
OPTIONAL MATCH (run:Run {agentId: $agentId, id: $runId})
CALL (utterance, run) {
  WITH *
  WHERE run IS NOT NULL
  MERGE (utterance)-[:PRODUCED_BY]->(run)
}
CALL (utterance) {
  UNWIND $told AS item
  MATCH (memory:Memory {agentId: $agentId, id: item.id})
  MERGE (utterance)-[tells:TELLS]->(memory)
    ON CREATE SET tells.rank = item.rank
  RETURN count(tells) AS tells
}
RETURN tells
