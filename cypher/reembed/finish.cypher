// The store is for the other model from now on.
// Returns: embeddingModel STRING; no row when the right is another's by now
MATCH (schema:GraphmemSchema {name: 'graphmem', moveToken: $token})
SET
  schema.embeddingModel = schema.movingTo,
  schema.dimension = schema.movingToDimension,
  schema.switching = null,
  schema.movingTo = null,
  schema.movingToDimension = null,
  schema.moveToken = null,
  schema.moveUntil = null
RETURN schema.embeddingModel AS embeddingModel
