// Take the right to change the schema for a while, unless it has reached $version; whoever holds it is not disturbed
// before its lease ends.
// Returns: token STRING or null (of the holder), schemaVersion INTEGER (0: nothing applied yet), embeddingModel STRING,
// dimension INTEGER, analyzer STRING
MERGE (schema:GraphmemSchema {name: 'graphmem'})
  ON CREATE SET
    schema.version = 0,
    schema.embeddingModel = $embeddingModel,
    schema.dimension = $dimension,
    schema.analyzer = $analyzer
SET schema.touchedAt = datetime()
WITH schema
CALL (schema) {
  WITH schema
  WHERE schema.version < $version AND (schema.leaseUntil IS NULL OR schema.leaseUntil < datetime())
  SET
    schema.leaseToken = $token,
    schema.leaseUntil = datetime() + duration({seconds: $leaseSeconds})
}
RETURN
  schema.leaseToken AS token,
  schema.version AS schemaVersion,
  schema.embeddingModel AS embeddingModel,
  schema.dimension AS dimension,
  coalesce(schema.analyzer, 'english') AS analyzer
