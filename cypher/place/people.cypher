// Who is in some arenas.
// places LIST<STRING>: paths
// Returns: whereabouts MAP
UNWIND $places AS path
MATCH (agent:Agent {place: path})
RETURN
  agent {
    .name, .place, .placeSince, .object, .doing, .doingSince, .actingOn, .home, .timeZone, .clock, agentId: agent.id
  } AS whereabouts
ORDER BY agent.id
