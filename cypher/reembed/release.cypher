// Give the right to move the store back; what was done stays, and another call goes on.
// Returns: token STRING
MATCH (schema:GraphmemSchema {name: 'graphmem', moveToken: $token})
SET
  schema.moveToken = null,
  schema.moveUntil = null
RETURN $token AS token
