// Record the step that was reached and keep the lease for leaseSeconds more; null gives it back.
// Returns: version INTEGER; no row when the lease is another's by now
MATCH (schema:GraphmemSchema {name: 'graphmem', leaseToken: $token})
SET
  schema.version = $version,
  schema.leaseToken = CASE WHEN $leaseSeconds IS NULL THEN null ELSE $token END,
  schema.leaseUntil = CASE
    WHEN $leaseSeconds IS NULL THEN null
    ELSE datetime() + duration({seconds: $leaseSeconds})
  END
RETURN schema.version AS version
