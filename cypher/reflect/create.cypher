// Store a reflection. Its citations follow in the same transaction, with truth/cite.
// Returns: id STRING
MATCH (agent:Agent {id: $agentId})
MATCH (run:Run {agentId: $agentId, id: $runId})
SET agent.held = agent.held + 1
CREATE (reflection:Memory:Reflection)
SET
  reflection = $properties,
  reflection.agentId = $agentId,
  reflection.embedding = toFloatList($vector)
CREATE (reflection)-[:PRODUCED_BY]->(run)
RETURN reflection.id AS id
