// Memories that may be old enough to be put away, by the ordered index alone; retention/judge decides.
// levels LIST<INTEGER>: of importance
// Returns: id STRING
UNWIND $levels AS level
MATCH (memory:Memory {agentId: $agentId, status: 'active', importance: level})
USING INDEX SEEK memory:Memory(agentId, status, importance, lastAccessedAt)
WHERE memory.lastAccessedAt < $before
RETURN memory.id AS id
