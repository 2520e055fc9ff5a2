// An agent with its counts; an agentId of null: every agent.
// Returns: agent MAP, observations, reflections, plans, stale, archived, ended, notEmbedded INTEGER
MATCH (agent:Agent)
WHERE agent.id STARTS WITH coalesce($agentId, '')
  AND ($agentId IS NULL OR agent.id = $agentId)
CALL (agent) {
  MATCH (memory:Memory {agentId: agent.id})
  WHERE memory.id IS NOT NULL
  RETURN
    count(CASE WHEN memory:Observation AND memory.held THEN 1 END) AS observations,
    count(CASE WHEN memory:Reflection AND memory.held THEN 1 END) AS reflections,
    count(CASE WHEN memory:Plan AND memory.held THEN 1 END) AS plans,
    count(CASE WHEN memory.status = 'stale' THEN 1 END) AS stale,
    count(CASE WHEN memory.status = 'archived' THEN 1 END) AS archived,
    count(CASE WHEN NOT memory.held AND memory.status <> 'archived' THEN 1 END) AS ended,
    count(CASE WHEN memory.held AND memory.embeddingModel IS NULL THEN 1 END) AS notEmbedded
}
RETURN agent {.*} AS agent, observations, reflections, plans, stale, archived, ended, notEmbedded
ORDER BY agent.id
