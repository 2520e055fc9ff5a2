// Take or renew the right to move the store to another embedding model; a switch that was begun must end at its model.
// Whoever holds it is not disturbed before its lease ends. By the server's clock.
// Returns: token STRING or null (of the holder), schemaVersion INTEGER, embeddingModel STRING, dimension INTEGER, movingTo
// STRING, movingToDimension INTEGER, switching BOOLEAN
MATCH (schema:GraphmemSchema {name: 'graphmem'})
SET schema.touchedAt = datetime()
WITH schema
CALL (schema) {
  WITH schema
  WHERE (schema.moveToken = $token OR schema.moveUntil IS NULL OR schema.moveUntil < datetime())
    AND (
      schema.switching IS NULL
      OR (schema.movingTo = $model AND schema.movingToDimension = $dimension)
    )
  SET
    schema.moveToken = $token,
    schema.moveUntil = datetime() + duration({seconds: $leaseSeconds}),
    schema.movingTo = $model,
    schema.movingToDimension = $dimension
}
RETURN
  schema.moveToken AS token,
  schema.version AS schemaVersion,
  schema.embeddingModel AS embeddingModel,
  schema.dimension AS dimension,
  schema.movingTo AS movingTo,
  schema.movingToDimension AS movingToDimension,
  coalesce(schema.switching, false) AS switching
