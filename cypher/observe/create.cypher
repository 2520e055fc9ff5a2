// Store observations that are not there yet.
// rows LIST<MAP>: properties MAP, embedding VECTOR or null (the text could not be embedded)
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (memory:Memory:Observation)
SET
  memory = row.properties,
  memory.agentId = $agentId,
  memory.embedding = toFloatList(row.embedding)
RETURN count(memory) AS created
