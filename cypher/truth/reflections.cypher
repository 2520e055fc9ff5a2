// How many reflections an agent has, of every status: no memory is deeper.
// Returns: reflections INTEGER
MATCH (memory:Memory {agentId: $agentId})
USING INDEX SEEK memory:Memory(agentId, id)
WHERE memory.id IS NOT NULL AND memory:Reflection
RETURN count(memory) AS reflections
