// Places of the world by their paths; those that are not there are left out.
// Returns: place MAP
UNWIND $paths AS path
MATCH (place:Place {scope: '', path: path})
RETURN place {.*} AS place
ORDER BY place.path
