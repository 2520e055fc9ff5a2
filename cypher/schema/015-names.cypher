// Exact names: each subject, object, source and keyword is one term as it was written, and so is the agent's id, by
// which a search is scoped. A range index cannot look into the list of keywords.
CREATE FULLTEXT INDEX memoryNames IF NOT EXISTS
FOR (memory:Memory) ON EACH [memory.agentId, memory.subject, memory.object, memory.source, memory.keywords]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword', `fulltext.eventually_consistent`: false}}
