// The active reflection that says the same already, if there is one.
// Returns: id STRING
MATCH (reflection:Memory {agentId: $agentId, textHash: $textHash})
WHERE reflection:Reflection AND reflection.status = 'active' AND reflection.id <> $except
RETURN reflection.id AS id
ORDER BY reflection.recordedAt, reflection.id
LIMIT 1
