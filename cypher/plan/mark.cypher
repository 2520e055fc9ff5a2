// Note on plans that they are being carried out, or that they could not be divided.
// state STRING or null: the state of those that are planned; undivided BOOLEAN or null
// Returns: marked INTEGER
UNWIND $ids AS id
MATCH (plan:Memory {agentId: $agentId, id: id})
WHERE plan.held AND plan.state IN ['planned', 'active']
SET
  plan.state = coalesce($state, plan.state),
  plan.undivided = coalesce($undivided, plan.undivided)
RETURN count(plan) AS marked
