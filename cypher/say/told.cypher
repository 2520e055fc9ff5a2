// Which of an agent's memories another knows from it, or it from the other; and which only tell other memories on.
// ids LIST<STRING>, other STRING: the other agent's id
// Returns: id STRING
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE EXISTS { (memory)-[:TELLS]->(:Memory) }
  OR EXISTS { (memory)<-[:HEARD_FROM]-(:Memory {agentId: $other}) }
  OR EXISTS { (memory) (()-[:HEARD_FROM|TELLS]->(:Memory)){1,40} (:Memory {agentId: $other}) }
  OR EXISTS {
    (memory) (()-[:HEARD_FROM|TELLS]->(:Memory)){0,40} (origin:Memory)
    (()<-[:HEARD_FROM|TELLS]-(:Memory)){0,40} (said:Memory {agentId: $agentId})
    WHERE EXISTS { (said)-[:HEARD_FROM]-(:Memory {agentId: $other}) }
  }
RETURN memory.id AS id
