// Say that one memory replaced another of the same agent. made: the newer one was written for that.
// Returns: id STRING
MATCH (newer:Memory {agentId: $agentId, id: $newer})
MATCH (older:Memory {agentId: $agentId, id: $older})
CREATE (newer)-[:SUPERSEDES {at: $now, mode: $mode, reason: $reason, by: $by, made: $made}]->(older)
RETURN newer.id AS id
