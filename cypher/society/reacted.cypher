// Whether an agent planned something because of an observation.
// Returns: reacted BOOLEAN
MATCH (observation:Memory {agentId: $agentId, id: $id})
RETURN EXISTS { (observation)<-[:DERIVED_FROM]-(:Memory) } AS reacted
