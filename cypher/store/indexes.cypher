// The state of every index.
// Returns: name STRING, state STRING (ONLINE | POPULATING | FAILED), percent FLOAT (in [0, 100]), dimension INTEGER or
// null (of a vector index)
SHOW INDEXES YIELD name, state, populationPercent, options
RETURN name, state, populationPercent AS percent, options.indexConfig['vector.dimensions'] AS dimension
