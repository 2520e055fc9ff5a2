// Let a value of a keyed fact take the place in order of the one that it corrects.
// Returns: id STRING
MATCH (older:Memory {agentId: $agentId, id: $older})
MATCH (newer:Memory {agentId: $agentId, id: $newer})
SET newer.keyRank = older.keyRank
RETURN newer.id AS id
