// What agents believe and what that rests on, what replaced what, and what made it stale; no agent named: of all.
// :param agentIds => ['ines', 'tobias']
// Returns: path PATH, at most 300: Browser draws more only slowly, and nobody can read it
MATCH path = (memory:Memory)-[:CITES|DERIVED_FROM|SUPERSEDES|STALE_BECAUSE]->(:Memory)
WHERE memory.id IS NOT NULL
  AND memory.agentId IN $agentIds
RETURN path
LIMIT 300
