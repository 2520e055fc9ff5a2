// What ended a value of a keyed fact, and the latest standing value that comes after it in order.
// besides STRING or null: a value that is not counted
// Returns: endedBy STRING or null, later STRING or null
MATCH (memory:Memory {agentId: $agentId, id: $id})
RETURN
  memory.endedBy AS endedBy,
  head(COLLECT {
    MATCH (later:Memory {agentId: $agentId, key: memory.key})
    USING INDEX SEEK later:Memory(agentId, key, occurredAt)
    WHERE later.occurredAt >= memory.occurredAt
      AND (later.held OR later.endedBy IN ['key', 'forget'])
      AND (later.occurredAt > memory.occurredAt OR later.keyRank > memory.keyRank)
      AND coalesce(later.id <> $besides, true)
    WITH later
    ORDER BY later.agentId DESC, later.key DESC, later.occurredAt DESC, later.keyRank DESC, later.id DESC
    LIMIT 1
    RETURN later.id
  }) AS later
