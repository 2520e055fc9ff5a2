// How many of an agent's memories have a text, and so a vector.
// Returns: memories INTEGER
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.id IS NOT NULL AND memory.text <> ''
RETURN count(memory) AS memories
