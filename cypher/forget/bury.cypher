// Make tombstones of memories: without text, vector and all else that was said; what is left is the id, the times, the
// hashes, and the place in graph and order. What the caller had retracted or corrected stays out of a key's order.
// Returns: buried INTEGER
MATCH (agent:Agent {id: $agentId})
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WITH agent, memory, memory.held AS held
SET memory = {
  agentId: memory.agentId,
  id: memory.id,
  key: memory.key,
  keyRank: memory.keyRank,
  text: '',
  kind: memory.kind,
  status: 'forgotten',
  held: false,
  depth: memory.depth,
  importance: memory.importance,
  importanceBy: memory.importanceBy,
  occurredAt: memory.occurredAt,
  recordedAt: memory.recordedAt,
  lastAccessedAt: memory.lastAccessedAt,
  endedAt: coalesce(memory.endedAt, $now),
  endedBy: CASE WHEN memory.held OR memory.endedBy = 'key' THEN 'forget' ELSE 'caller' END,
  forgottenAt: $now,
  textHash: memory.textHash,
  contentHash: memory.contentHash,
  dateText: memory.dateText,
  writtenBy: memory.writtenBy,
  missingGrounds: memory.missingGrounds,
  start: memory.start,
  end: memory.end,
  state: memory.state
}
SET memory:Ended
REMOVE memory:Stale:Archived
WITH agent, count(memory) AS buried, count(CASE WHEN held THEN 1 END) AS ended
SET agent.held = agent.held - ended
RETURN buried
