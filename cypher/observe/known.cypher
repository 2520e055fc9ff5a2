// Which of these ids the agent has already.
// Returns: id STRING, contentHash STRING or null (nobody gave its content), status STRING, text STRING, source STRING or
// null, imported BOOLEAN
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
RETURN
  memory.id AS id,
  memory.contentHash AS contentHash,
  memory.status AS status,
  memory.text AS text,
  memory.source AS source,
  memory.importedAt IS NOT NULL AS imported
