// Store observations that are not there yet.
// rows LIST<MAP>: properties MAP, embedding VECTOR or null (the text could not be embedded)
// recordedAt ZONED DATETIME: when the agent came to hold those whose properties do not say. Times are said once, since
// the driver takes longer to send one than the database to set it; the first access is when it happened.
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (memory:Memory:Observation)
SET
  memory = row.properties,
  memory.agentId = $agentId,
  memory.recordedAt = coalesce(row.properties.recordedAt, $recordedAt),
  memory.lastAccessedAt = row.properties.occurredAt,
  memory.embedding = toFloatList(row.embedding)
RETURN count(memory) AS created
