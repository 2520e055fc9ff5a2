// Store memories of an export, as they were.
// rows LIST<MAP>: labels LIST<STRING>, properties MAP, held BOOLEAN, embedding VECTOR or null
// Returns: created INTEGER
UNWIND $rows AS row
CREATE (memory:Memory:$(row.labels))
SET
  memory = row.properties,
  memory.agentId = $agentId,
  memory.scopeToken = CASE WHEN row.held THEN $scopeToken END,
  memory.embedding = toFloatList(row.embedding)
RETURN count(memory) AS created
