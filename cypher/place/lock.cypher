// Lock agents in the order of their ids.
// Returns: locked INTEGER
UNWIND $ids AS id
MATCH (agent:Agent {id: id})
SET agent.writtenAt = datetime()
RETURN count(agent) AS locked
