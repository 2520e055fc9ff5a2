// Where a memory comes from: all that it rests or rested on, the runs that wrote it, what replaced what, and whom or what
// it is about.
// :param agentId => 'ines'
// :param id => 'd1-0645'
// Returns: memory NODE, origin PATH or null
MATCH (top:Memory {agentId: $agentId, id: $id})
CALL (top) {
  MATCH (top)
    (()-[:CITES|DERIVED_FROM]->(:Memory)){0,}
    (memory:Memory)
  RETURN DISTINCT memory
}
OPTIONAL MATCH origin = (memory)-[:CITES|DERIVED_FROM|PRODUCED_BY|SUPERSEDES|ABOUT]->()
RETURN memory, origin
UNION
MATCH (top:Memory {agentId: $agentId, id: $id})
CALL (top) {
  MATCH (top)
    (()-[:CITES|DERIVED_FROM]->(:Memory)){0,}
    (memory:Memory)
  RETURN DISTINCT memory
}
MATCH origin = (memory)<-[edge:SUPERSEDES WHERE edge.revokedAt IS NULL]-(:Memory)
RETURN memory, origin
