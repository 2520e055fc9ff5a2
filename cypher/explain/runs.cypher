// The run that produced each of these memories.
// Returns: id STRING, run MAP
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})-[:PRODUCED_BY]->(run:Run)
RETURN memory.id AS id, run {.*} AS run
