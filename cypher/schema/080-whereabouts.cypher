// Who is where: agents by the arena that they are in.
CREATE INDEX agentPlace IF NOT EXISTS
FOR (agent:Agent) ON (agent.place)
