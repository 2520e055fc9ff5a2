// Changes of belief by their time: whether one is dated after a moment.
CREATE INDEX changeAt IF NOT EXISTS
FOR (change:Change) ON (change.agentId, change.at)
