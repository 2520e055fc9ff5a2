// Those of these keys of which something is dated after a moment: a value that came later, or a change of one. Where
// no clock goes back there is neither, which two index seeks tell; only else are the values of a key looked through.
// Returns: key STRING
CALL () {
  MATCH (change:Change {agentId: $agentId})
  USING INDEX SEEK change:Change(agentId, at)
  WHERE change.at > $now
  WITH change
  LIMIT 1
  RETURN count(change) > 0 AS changed
}
UNWIND $keys AS key
CALL (key) {
  MATCH (memory:Memory {agentId: $agentId, key: key})
  USING INDEX SEEK memory:Memory(agentId, key, recordedAt)
  WHERE memory.recordedAt > $now
  WITH memory
  LIMIT 1
  RETURN count(memory) > 0 AS came
}
CALL (key, changed) {
  WITH key, changed
  WHERE changed
  MATCH (memory:Memory {agentId: $agentId, key: key})
  USING INDEX SEEK memory:Memory(agentId, key, occurredAt)
  WHERE memory.occurredAt IS NOT NULL AND EXISTS { (memory)<-[:OF]-(change:Change) WHERE change.at > $now }
  WITH memory
  LIMIT 1
  RETURN count(memory) > 0 AS altered
}
WITH DISTINCT key, came, altered
WHERE came OR altered
RETURN key
