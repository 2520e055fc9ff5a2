// The changes of belief about a memory, in order.
// Returns: change NODE
MATCH (:Memory {agentId: $agentId, id: $id})<-[:OF]-(change:Change)
RETURN change
ORDER BY change.seq, change.ordinal
