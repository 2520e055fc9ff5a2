// Which of these memories rest on another, through current grounds and through what replaced a superseded ground.
// Returns: id STRING
MATCH (target:Memory {agentId: $agentId, id: $target})
UNWIND $ids AS id
MATCH (memory:Memory {agentId: $agentId, id: id})
WHERE memory.id = target.id OR EXISTS {
  ANY SHORTEST (memory)
    ((upper:Memory)-[edge:CITES|DERIVED_FROM|SUPERSEDES]-(lower:Memory)
      WHERE (type(edge) <> 'SUPERSEDES' AND startNode(edge) = upper AND edge.until IS NULL)
         OR (type(edge) = 'SUPERSEDES' AND endNode(edge) = upper AND edge.revokedAt IS NULL))+
    (target)
}
RETURN memory.id AS id
