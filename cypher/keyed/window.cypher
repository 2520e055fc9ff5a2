// The values of keyed facts in their order: within spans of time, with the last standing one before each span and the
// first standing one after it. Standing: neither retracted nor corrected; a forgotten value stands, as a tombstone.
// spans LIST<MAP>: key STRING, since, until ZONED DATETIME
// Returns: key, id STRING, after BOOLEAN (it lies after the span), standing BOOLEAN or null, held, forgotten BOOLEAN,
// newer STRING or null (what supersedes it)
UNWIND $spans AS span
CALL (span) {
  MATCH (memory:Memory {agentId: $agentId, key: span.key})
  USING INDEX SEEK memory:Memory(agentId, key, occurredAt)
  WHERE memory.occurredAt >= span.since AND memory.occurredAt <= span.until
  RETURN memory, false AS after
  UNION
  MATCH (memory:Memory {agentId: $agentId, key: span.key})
  USING INDEX SEEK memory:Memory(agentId, key, occurredAt)
  WHERE memory.occurredAt < span.since AND (memory.held OR memory.endedBy IN ['key', 'forget'])
  WITH memory
  ORDER BY memory.agentId DESC, memory.key DESC, memory.occurredAt DESC, memory.keyRank DESC, memory.id DESC
  LIMIT 1
  RETURN memory, false AS after
  UNION
  MATCH (memory:Memory {agentId: $agentId, key: span.key})
  USING INDEX SEEK memory:Memory(agentId, key, occurredAt)
  WHERE memory.occurredAt > span.until AND (memory.held OR memory.endedBy IN ['key', 'forget'])
  WITH memory
  ORDER BY memory.agentId, memory.key, memory.occurredAt, memory.keyRank, memory.id
  LIMIT 1
  RETURN memory, true AS after
}
OPTIONAL MATCH (memory)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(newer:Memory)
RETURN
  span.key AS key,
  memory.id AS id,
  after,
  memory.held OR memory.endedBy IN ['key', 'forget'] AS standing,
  memory.held AS held,
  memory.status = 'forgotten' AS forgotten,
  newer.id AS newer
ORDER BY key, memory.occurredAt, memory.keyRank, memory.id
