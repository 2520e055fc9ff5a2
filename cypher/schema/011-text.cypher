// Full text over text, speaker and date. scopeToken stands for the agent while the memory is held, so that a search
// requires it and neither another agent's texts nor ended ones take up its places.
CREATE FULLTEXT INDEX memoryText IF NOT EXISTS
FOR (memory:Memory) ON EACH [memory.text, memory.source, memory.dateText, memory.scopeToken]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer, `fulltext.eventually_consistent`: false}}
