// What went stale and why: each stale belief, the grounds at fault, and what replaced them.
// :param agentId => 'ines'
// Returns: because PATH, replaced PATH or null
MATCH (memory:Memory {agentId: $agentId, status: 'stale'})
WHERE memory.occurredAt IS NOT NULL
MATCH because = (memory)-[cause:STALE_BECAUSE WHERE cause.until IS NULL]->(ground:Memory)
OPTIONAL MATCH replaced = (ground)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(:Memory)
RETURN because, replaced
