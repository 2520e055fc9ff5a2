// The grounds of these memories, ended ones included, and what replaced or was replaced by each.
// Returns: type STRING, source, target STRING, properties MAP or empty, element STRING (the relationship itself)
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})-[edge:CITES|DERIVED_FROM|STALE_BECAUSE]->(other:Memory)
RETURN type(edge) AS type, memory.id AS source, other.id AS target, properties(edge) AS properties, elementId(edge) AS element
UNION
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]->(older:Memory)
RETURN type(edge) AS type, memory.id AS source, older.id AS target, properties(edge) AS properties, elementId(edge) AS element
UNION
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(newer:Memory)
RETURN type(edge) AS type, newer.id AS source, memory.id AS target, properties(edge) AS properties, elementId(edge) AS element
