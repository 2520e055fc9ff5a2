// Join what an agent heard with what the other said, as that one remembers it itself. Both are locked.
// rows LIST<MAP>: id STRING, agentId STRING of the other, memoryId STRING of the other's memory
// Returns: joined INTEGER
UNWIND $rows AS row
MATCH (heard:Memory {agentId: $agentId, id: row.id})
MATCH (said:Memory {agentId: row.agentId, id: row.memoryId})
MERGE (heard)-[edge:HEARD_FROM]->(said)
RETURN count(edge) AS joined
