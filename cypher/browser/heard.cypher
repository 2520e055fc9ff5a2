// Who heard what from whom: the utterances that agents remember, each with its speaker; no agent named: of all.
// :param agentIds => ['ines', 'tobias']
// Returns: listener NODE, said PATH, at most 300
MATCH (listener:Agent)
WHERE $agentIds = [] OR listener.id IN $agentIds
MATCH said = (speaker:Entity {agentId: listener.id})<-[about:ABOUT WHERE 'source' IN about.roles]-(:Memory)
USING INDEX SEEK speaker:Entity(agentId, name)
WHERE speaker.name IS NOT NULL
RETURN listener, said
LIMIT 300
