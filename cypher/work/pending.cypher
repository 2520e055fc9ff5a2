// Agents with work to do; an agentId of null: of all agents.
// Returns: id STRING, reflectionDue, stale, notEmbedded, ratingDue BOOLEAN
MATCH (agent:Agent)
WHERE agent.id STARTS WITH coalesce($agentId, '')
  AND ($agentId IS NULL OR agent.id = $agentId)
WITH
  agent,
  agent.importanceSinceReflection >= agent.reflectionThreshold AS reflectionDue,
  EXISTS {
    MATCH (memory:Memory {agentId: agent.id, status: 'stale'})
    WHERE memory.occurredAt IS NOT NULL
  } AS stale,
  EXISTS {
    MATCH (memory:Memory {agentId: agent.id, notEmbedded: true})
    WHERE memory.held
  } AS notEmbedded,
  EXISTS {
    MATCH (memory:Memory {agentId: agent.id, ratingDue: true})
    WHERE memory.held
  } AS ratingDue
WHERE reflectionDue OR stale OR notEmbedded OR ratingDue
RETURN agent.id AS id, reflectionDue, stale, notEmbedded, ratingDue
ORDER BY id
