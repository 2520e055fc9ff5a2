// Whether a plan can still be divided; read after the agent was locked.
// Returns: status STRING, finished BOOLEAN or null (it is no plan), parts INTEGER (held plans that are a part of it)
MATCH (plan:Memory {agentId: $agentId, id: $id})
RETURN
  plan.status AS status,
  plan.state IN ['done', 'missed', 'dropped'] AS finished,
  COUNT { (plan)<-[:DERIVED_FROM {part: true}]-(:Memory {held: true}) } AS parts
