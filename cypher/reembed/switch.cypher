// Begin the switch: from now on nobody's vectors of the old model are read or written.
// Returns: token STRING; no row when the right is another's by now
MATCH (schema:GraphmemSchema {name: 'graphmem', moveToken: $token})
SET schema.switching = true
RETURN schema.moveToken AS token
