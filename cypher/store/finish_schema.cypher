// Record the version that was applied and give the lease back.
// Returns: version INTEGER
MATCH (schema:GraphmemSchema {name: 'graphmem', leaseToken: $token})
SET
  schema.version = $version,
  schema.leaseToken = null,
  schema.leaseUntil = null
RETURN schema.version AS version
