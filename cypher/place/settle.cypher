// Give an agent its home; it is there unless it is somewhere already. The agent is locked.
// Returns: place STRING
MATCH (agent:Agent {id: $agentId})
SET
  agent.home = $home,
  agent.placeSince = CASE WHEN agent.place IS NULL THEN $now ELSE agent.placeSince END,
  agent.place = coalesce(agent.place, $place)
RETURN agent.place AS place
