// Who knows it, and from whom: every way from what an agent holds to those who were told of it, over what was said.
// :param agentId => 'ines'
// :param id => 'the id of the memory that it began with'
// Returns: origin NODE, way PATH or null, at most 300
MATCH (origin:Memory {agentId: $agentId, id: $id})
OPTIONAL MATCH way = (origin) (()<-[:HEARD_FROM|TELLS]-(:Memory)){1,60} (told:Memory)
RETURN origin, way
LIMIT 300
