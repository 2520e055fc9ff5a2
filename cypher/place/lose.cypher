// Places that an agent knew, and found gone.
// Returns: lost INTEGER
UNWIND $paths AS path
MATCH (place:Place {scope: $agentId})
WHERE place.path >= path AND place.path < path + ';'
  AND (place.path = path OR place.path STARTS WITH path + ':')
DETACH DELETE place
RETURN count(place) AS lost
