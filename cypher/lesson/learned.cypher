// Note up to when an agent has learned from what became of its plans, never back.
// Returns: upTo ZONED DATETIME
MATCH (agent:Agent {id: $agentId})
SET agent.learnedUpTo = CASE
  WHEN agent.learnedUpTo > $upTo THEN agent.learnedUpTo
  ELSE $upTo
END
RETURN agent.learnedUpTo AS upTo
