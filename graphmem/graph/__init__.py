"""The graph in Neo4j: queries, store, schema, and the embedded server."""
