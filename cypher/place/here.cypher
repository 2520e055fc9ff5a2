// Where agents are, and what they are doing.
// Returns: whereabouts MAP
UNWIND $ids AS id
MATCH (agent:Agent {id: id})
RETURN
  agent {
    .name, .place, .placeSince, .object, .doing, .doingSince, .actingOn, .home, .timeZone, .clock, agentId: agent.id
  } AS whereabouts
ORDER BY agent.id
