// All places that an agent knows.
// Returns: properties MAP
MATCH (place:Place {scope: $agentId})
WHERE place.path IS NOT NULL
RETURN properties(place) AS properties
