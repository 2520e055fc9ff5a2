// Where agents are, and what they are doing.
// Returns: agent MAP
UNWIND $ids AS id
MATCH (agent:Agent {id: id})
RETURN
  agent {
    .name, .place, .placeSince, .object, .doing, .doingSince, .actingOn, .home, .timeZone, .clock, agentId: agent.id
  } AS agent
ORDER BY agent.id
