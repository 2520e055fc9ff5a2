// The held memories that rest on a memory now.
// Returns: dependent NODE, earliest first
MATCH (memory:Memory {agentId: $agentId, id: $id})<-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]-(dependent:Memory)
WHERE dependent.held
RETURN dependent
ORDER BY dependent.occurredAt, dependent.id
