// What an agent remembers of one conversation: what it said and what it heard.
// Returns: memory MAP (without its vector), labels LIST<STRING>, heard BOOLEAN (said by another), told LIST<STRING> of
// the ids of its own memories that it tells
MATCH (memory:Memory {agentId: $agentId, session: $session})
USING INDEX SEEK memory:Memory(agentId, session, occurredAt)
WHERE memory.occurredAt IS NOT NULL AND memory.id STARTS WITH $prefix
RETURN
  memory {.*, embedding: null} AS memory,
  labels(memory) AS labels,
  EXISTS { (memory)-[:HEARD_FROM]->(:Memory) } AS heard,
  [(memory)-[:TELLS]->(told:Memory) | told.id] AS told
