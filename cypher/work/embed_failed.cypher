// Note that texts could not be embedded again; each time the wait is twice as long.
// Returns: failed INTEGER
MATCH (agent:Agent {id: $agentId})
SET agent.writtenAt = datetime()
WITH agent
WHERE agent.workToken = $token
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.notEmbedded
SET
  memory.embeddingAttempts = coalesce(memory.embeddingAttempts, 0) + 1,
  memory.nextEmbeddingAt =
    datetime() + duration({seconds: $backoffSeconds * 2 ^ coalesce(memory.embeddingAttempts, 0)})
RETURN count(memory) AS failed
