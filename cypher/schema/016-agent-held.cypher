// Agents of the first version did not count what they hold, by which retrieval chooses its way.
// Returns: changed INTEGER
MATCH (agent:Agent)
WHERE agent.held IS NULL
WITH agent LIMIT $limit
SET agent.writtenAt = datetime()
WITH agent
SET agent.held = COUNT {
  MATCH (memory:Memory {agentId: agent.id})
  WHERE memory.id IS NOT NULL AND memory.held
}
RETURN count(agent) AS changed
