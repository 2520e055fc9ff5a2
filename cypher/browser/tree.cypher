// The reflection tree of a memory: all that it rests on now, down to the observations.
// :param agentId => 'ines'
// :param id => 'd1-0645'
// Returns: memory NODE, ground PATH or null
MATCH (top:Memory {agentId: $agentId, id: $id})
CALL (top) {
  MATCH (top)
    (()-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)){0,}
    (memory:Memory)
  RETURN DISTINCT memory
}
OPTIONAL MATCH ground = (memory)-[edge:CITES|DERIVED_FROM WHERE edge.until IS NULL]->(:Memory)
RETURN memory, ground
