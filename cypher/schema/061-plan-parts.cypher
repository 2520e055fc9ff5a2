// Plans of earlier versions were imported, and rested on nothing but the plan that they are a part of.
// Returns: changed INTEGER
MATCH (plan:Plan)-[edge:DERIVED_FROM]->(parent:Plan)
WHERE edge.part IS NULL
WITH edge LIMIT $limit
SET edge.part = true
RETURN count(edge) AS changed
