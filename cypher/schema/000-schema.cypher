// There is one schema record a database.
CREATE CONSTRAINT schemaName IF NOT EXISTS
FOR (schema:GraphmemSchema) REQUIRE schema.name IS UNIQUE
