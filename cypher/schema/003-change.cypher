// The audit log is numbered by the agent's revision and the ordinal within it.
CREATE CONSTRAINT changeSeq IF NOT EXISTS
FOR (change:Change) REQUIRE (change.agentId, change.seq, change.ordinal) IS UNIQUE
