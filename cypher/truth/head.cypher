// The head of a chain of supersession: what stands in the place of each of these memories today.
// Returns: id STRING (as asked), head STRING, headHeld BOOLEAN, headStatus STRING
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
MATCH (memory)
  (()<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(:Memory)){0,}
  (head:Memory)
WHERE NOT EXISTS { (head)<-[later:SUPERSEDES WHERE later.revokedAt IS NULL]-(:Memory) }
RETURN memory.id AS id, head.id AS head, head.held AS headHeld, head.status AS headStatus
