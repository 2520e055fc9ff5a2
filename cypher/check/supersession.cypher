// Supersession: never of oneself, at most one unrevoked a memory, its target ended, and no cycle.
// Returns: agentId, id, problem STRING
MATCH (memory:Memory {agentId: $agentId})-[:SUPERSEDES]->(memory)
WHERE memory.id IS NOT NULL
RETURN memory.agentId AS agentId, memory.id AS id, 'supersedes itself' AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
  AND COUNT { (memory)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-() } > 1
RETURN memory.agentId AS agentId, memory.id AS id, 'is superseded twice' AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL
  AND (memory.status = 'superseded') <> EXISTS { (memory)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-() }
  AND memory.status <> 'forgotten'
RETURN memory.agentId AS agentId, memory.id AS id, 'is superseded by nothing, or held though superseded' AS problem
UNION
MATCH (memory:Memory {agentId: $agentId})<-[:SUPERSEDES]-(:Memory)
WHERE memory.id IS NOT NULL
  AND EXISTS {
  (memory) (()-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]->(:Memory)){2,} (memory)
}
RETURN memory.agentId AS agentId, memory.id AS id, 'supersedes itself in a circle' AS problem
