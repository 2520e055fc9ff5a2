// Who plans, and where: what a day is made of. No row: nothing was ever written for this agent.
// Returns: name, timeZone STRING, traits STRING or null, clock, learnedUpTo ZONED DATETIME or null
MATCH (agent:Agent {id: $agentId})
RETURN
  agent.name AS name,
  agent.timeZone AS timeZone,
  agent.traits AS traits,
  agent.clock AS clock,
  agent.learnedUpTo AS learnedUpTo
