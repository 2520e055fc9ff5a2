// The state of every index.
// Returns: name STRING, state STRING (ONLINE | POPULATING | FAILED), percent FLOAT in [0, 100]
SHOW INDEXES YIELD name, state, populationPercent
RETURN name, state, populationPercent AS percent
