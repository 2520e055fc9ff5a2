// What the store was made for.
// Returns: version INTEGER, embeddingModel STRING, dimension INTEGER, analyzer STRING
MATCH (schema:GraphmemSchema {name: 'graphmem'})
RETURN schema.version AS version, schema.embeddingModel AS embeddingModel, schema.dimension AS dimension,
  coalesce(schema.analyzer, 'english') AS analyzer
