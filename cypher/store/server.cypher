// Which Neo4j it is.
// Returns: server STRING, e.g. 2026.09.0; edition STRING (community | enterprise)
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS server, edition
