// The history of a belief: what it replaced and what replaced it, however often, and every change of it.
// :param agentId => 'ines'
// :param id => 'd1-0645'
// Returns: belief NODE, replaced PATH or null, changed PATH or null
MATCH (now:Memory {agentId: $agentId, id: $id})
CALL (now) {
  MATCH (now)
    (()-[:SUPERSEDES]-(:Memory)){0,}
    (belief:Memory)
  RETURN DISTINCT belief
}
OPTIONAL MATCH replaced = (belief)-[:SUPERSEDES]->(:Memory)
OPTIONAL MATCH changed = (belief)<-[:OF]-(:Change)
RETURN belief, replaced, changed
