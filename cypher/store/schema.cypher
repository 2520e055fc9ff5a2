// What the store was made for.
// Returns: schemaVersion INTEGER, embeddingModel STRING, dimension INTEGER, analyzer STRING
MATCH (schema:GraphmemSchema {name: 'graphmem'})
RETURN schema.version AS schemaVersion, schema.embeddingModel AS embeddingModel, schema.dimension AS dimension,
  coalesce(schema.analyzer, 'english') AS analyzer
