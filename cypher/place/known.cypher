// All places that an agent knows.
// Returns: place MAP
MATCH (place:Place {scope: $agentId})
WHERE place.path IS NOT NULL
RETURN place {.*} AS place
ORDER BY place.path
