// Join what an agent heard with what the other said, where that is there. Both are locked.
// rows LIST<MAP>: source STRING, agent STRING (the other), target STRING of the other's memory, properties MAP
// Returns: joined INTEGER
UNWIND $rows AS row
MATCH (heard:Memory {agentId: $agentId, id: row.source})
MATCH (said:Memory {agentId: row.agent, id: row.target})
MERGE (heard)-[edge:HEARD_FROM]->(said)
SET edge = row.properties
RETURN count(edge) AS joined
