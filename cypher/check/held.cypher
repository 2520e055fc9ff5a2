// The agent counts the memories that it holds, for which retrieval would otherwise need a scan.
// Returns: agentId, id, problem STRING
MATCH (agent:Agent {id: $agentId})
CALL (agent) {
  MATCH (memory:Memory {agentId: agent.id})
  WHERE memory.id IS NOT NULL AND memory.held
  RETURN count(memory) AS held
}
WITH agent, held
WHERE agent.held <> held
RETURN agent.id AS agentId, agent.id AS id, 'holds ' + held + ' memories, but counts ' + agent.held AS problem
