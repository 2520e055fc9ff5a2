// The turns right before and after some memories in their sessions: what a fragment is a fragment of.
// ids LIST<STRING>, most INTEGER: turns on either side
// asOf ZONED DATETIME or null: what the agent had by then, whatever became of it
// Returns: id STRING of each turn around
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.session IS NOT NULL
CALL (memory) {
  MATCH (turn:Memory {agentId: $agentId, session: memory.session})
    USING INDEX SEEK turn:Memory(agentId, session, occurredAt)
  WHERE turn.occurredAt > memory.occurredAt
    AND CASE WHEN $asOf IS NULL THEN turn.status = 'active' ELSE turn.recordedAt <= $asOf END
  RETURN turn.id AS around
  ORDER BY turn.occurredAt, turn.id
  LIMIT $most
  UNION
  MATCH (turn:Memory {agentId: $agentId, session: memory.session})
    USING INDEX SEEK turn:Memory(agentId, session, occurredAt)
  WHERE turn.occurredAt < memory.occurredAt
    AND CASE WHEN $asOf IS NULL THEN turn.status = 'active' ELSE turn.recordedAt <= $asOf END
  RETURN turn.id AS around
  ORDER BY turn.occurredAt DESC, turn.id
  LIMIT $most
}
RETURN DISTINCT around AS id
