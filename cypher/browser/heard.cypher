// Who heard what from whom: the utterances that agents remember, each with its speaker, and with the other's own memory of
// it where that is known; no agent named: of all.
// :param agentIds => ['ines', 'tobias']
// Returns: said PATH, from PATH or null, at most 300
MATCH said = (speaker:Entity)<-[about:ABOUT WHERE 'source' IN about.roles]-(heard:Memory)
WHERE speaker.name IS NOT NULL
  AND speaker.agentId IN $agentIds
OPTIONAL MATCH from = (heard)-[:HEARD_FROM]->(:Memory)
RETURN said, from
LIMIT 300
