// What agents believe and what that rests on, what replaced what, and what made it stale; no agent named: of all.
// :param agentIds => ['ines', 'tobias']
// Returns: path PATH, at most 300: Browser draws more only slowly, and nobody can read it
MATCH (agent:Agent)
WHERE $agentIds = [] OR agent.id IN $agentIds
MATCH path = (memory:Memory {agentId: agent.id})-[:CITES|DERIVED_FROM|SUPERSEDES|STALE_BECAUSE]->(:Memory)
USING INDEX SEEK memory:Memory(agentId, id)
WHERE memory.id IS NOT NULL
RETURN path
LIMIT 300
