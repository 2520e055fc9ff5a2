// Store plans from elsewhere that are not there yet; what they are a part of follows in the same transaction.
// rows LIST<MAP>: properties MAP, embedding VECTOR or null (the text could not be embedded)
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (memory:Memory:Plan)
SET
  memory = row.properties,
  memory.agentId = $agentId,
  memory.embedding = toFloatList(row.embedding)
RETURN count(memory) AS created
