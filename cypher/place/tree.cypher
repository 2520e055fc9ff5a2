// A part of the world, or of what an agent knows of it: a place and all in it.
// scope STRING: '' for the world, an agent's id for what that agent knows. path STRING
// Returns: place MAP
MATCH (place:Place {scope: $scope})
WHERE place.path >= $path AND place.path < $path + ';'
  AND (place.path = $path OR place.path STARTS WITH $path + ':')
RETURN place {.*} AS place
ORDER BY place.path
