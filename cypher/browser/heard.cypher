// Who heard what from whom: the utterances that agents remember, each with its speaker, and with the other's own memory of
// it where that is known; no agent named: of all.
// :param agentIds => ['ines', 'tobias']
// Returns: listener NODE, said PATH, from PATH or null, at most 300
MATCH (listener:Agent)
WHERE $agentIds = [] OR listener.id IN $agentIds
MATCH said = (speaker:Entity {agentId: listener.id})<-[about:ABOUT WHERE 'source' IN about.roles]-(heard:Memory)
USING INDEX SEEK speaker:Entity(agentId, name)
WHERE speaker.name IS NOT NULL
OPTIONAL MATCH from = (heard)-[:HEARD_FROM]->(:Memory)
RETURN listener, said, from
LIMIT 300
