// What the log says of these values of keys, in the order in which it was said.
// turns LIST<STRING>: verbs that end a memory or hold it again; ends LIST<STRING>: those of them that end it
// Returns: id STRING, at ZONED DATETIME, ends BOOLEAN, byKey BOOLEAN (another value took its place or ceased to, and the
// value itself stands as before: a correction inherits the place of what it corrects, an update does not)
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
MATCH (memory)<-[:OF]-(change:Change)
WHERE change.verb IN $turns
RETURN
  id,
  change.at AS at,
  change.verb IN $ends AS ends,
  change.verb IN ['key:superseded', 'key:restored', 'forget']
    OR (change.verb = 'supersede' AND EXISTS {
      (memory)<-[edge:SUPERSEDES]-(newer:Memory)
      WHERE edge.at = change.at AND newer.keyRank <> memory.keyRank
    }) AS byKey
ORDER BY id, change.seq, change.ordinal
