// What the store was made for. switching: it is being moved to another embedding model, and no vector may be used.
// Returns: schemaVersion INTEGER, embeddingModel STRING, dimension INTEGER, analyzer STRING, movingTo STRING or null,
// switching BOOLEAN
MATCH (schema:GraphmemSchema {name: 'graphmem'})
RETURN
  schema.version AS schemaVersion,
  schema.embeddingModel AS embeddingModel,
  schema.dimension AS dimension,
  coalesce(schema.analyzer, 'english') AS analyzer,
  schema.movingTo AS movingTo,
  coalesce(schema.switching, false) AS switching
