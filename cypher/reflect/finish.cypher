// Keep the trigger claimed, and note up to where the agent has reflected: the newest that a prompt showed, never back.
// Returns: upTo ZONED DATETIME or null
MATCH (agent:Agent {id: $agentId, openReflection: $runId})
SET
  agent.openReflection = null,
  agent.reflectedUpTo = CASE
    WHEN agent.reflectedUpTo > $upTo THEN agent.reflectedUpTo
    ELSE $upTo
  END
RETURN agent.reflectedUpTo AS upTo
