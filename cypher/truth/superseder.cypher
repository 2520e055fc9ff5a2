// What supersedes a memory now; no row: nothing does.
// Returns: id STRING, status STRING, made BOOLEAN or null (it was written for that)
MATCH (memory:Memory {agentId: $agentId, id: $id})<-[change:SUPERSEDES WHERE change.revokedAt IS NULL]-(newer:Memory)
RETURN newer.id AS id, newer.status AS status, change.made AS made
