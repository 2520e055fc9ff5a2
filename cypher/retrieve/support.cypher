// How far the grounds of reflections support them: the mean over the current ones that were measured.
// Returns: id STRING, support FLOAT
UNWIND $ids AS id
MATCH (reflection:Memory {agentId: $agentId, id: id})-[cites:CITES]->(:Memory)
WHERE cites.until IS NULL AND cites.support IS NOT NULL
RETURN id, avg(cites.support) AS support
