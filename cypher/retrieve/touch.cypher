// Note that memories were retrieved; an access never moves back in time.
// Returns: touched INTEGER
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.lastAccessedAt < $now
SET memory.lastAccessedAt = $now
RETURN count(memory) AS touched
