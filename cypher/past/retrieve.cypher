// Retrieval as of a moment: the n most relevant memories of all times, of which those are kept that the agent held then
// (see past/believed), scored as in retrieve/score with the recency of when they happened. Their parts are normalised
// over what was kept.
// filters MAP: kinds LIST<STRING>, since, until ZONED DATETIME, place, source STRING, each or null
// Returns: looked INTEGER (how many were relevant at all), kept INTEGER, withheldStale, notEmbedded INTEGER,
// hits LIST<MAP> best first
CALL () {
  MATCH (memory:Memory)
    SEARCH memory IN (
      VECTOR INDEX memoryEmbedding
      FOR $vector
      WHERE memory.agentId = $agentId
      LIMIT $n
    ) SCORE AS similarity
  RETURN collect({memory: memory, relevance: 2 * similarity - 1}) AS found
}
CALL (found) {
  UNWIND found AS candidate
  WITH candidate.memory AS memory, candidate.relevance AS relevance
  WHERE memory.recordedAt <= $asOf
    AND ($filters.kinds IS NULL OR memory.kind IN $filters.kinds)
    AND ($filters.since IS NULL OR memory.occurredAt >= $filters.since)
    AND ($filters.until IS NULL OR memory.occurredAt < $filters.until)
    AND ($filters.place IS NULL OR memory.place = $filters.place)
    AND ($filters.source IS NULL OR memory.source = $filters.source)
  WITH memory, relevance, head(COLLECT {
    MATCH (memory)<-[:OF]-(change:Change)
    WHERE change.at <= $asOf AND change.verb IN $turns
    RETURN change.verb
    ORDER BY change.seq DESC, change.ordinal DESC
    LIMIT 1
  }) AS last
  WHERE $ends[last] IS NULL
  WITH
    memory, relevance,
    coalesce(memory.missingGrounds, 0) = 0 AND NOT EXISTS {
      (memory)-[because:STALE_BECAUSE]->()
      WHERE because.since <= $asOf AND coalesce(because.until > $asOf, true)
    } AS active,
    CASE
      WHEN memory.occurredAt >= $asOf THEN 0.0
      ELSE ($nowMillis - memory.occurredAt.epochMillis) / 3600000.0
    END AS hours
  RETURN
    collect({memory: memory, relevance: relevance, active: active, hours: hours}) AS candidates,
    min(CASE WHEN active THEN relevance END) AS relevanceMin,
    max(CASE WHEN active THEN relevance END) AS relevanceMax,
    min(CASE WHEN active THEN hours END) AS hoursMin,
    max(CASE WHEN active THEN hours END) AS hoursMax,
    min(CASE WHEN active THEN memory.importance END) AS importanceMin,
    max(CASE WHEN active THEN memory.importance END) AS importanceMax
}
WITH
  size(found) AS looked, candidates, relevanceMin, relevanceMax, hoursMin, importanceMin, importanceMax,
  $decay ^ CASE WHEN hoursMax - hoursMin > $recencyFloor THEN hoursMax - hoursMin ELSE $recencyFloor END AS recencyMin
CALL (candidates, relevanceMin, relevanceMax, hoursMin, recencyMin, importanceMin, importanceMax) {
  UNWIND candidates AS candidate
  WITH
    *,
    candidate.memory AS memory,
    CASE
      WHEN NOT $minmax THEN candidate.relevance
      WHEN relevanceMax = relevanceMin THEN 1.0
      ELSE (candidate.relevance - relevanceMin) / (relevanceMax - relevanceMin)
    END AS relevancePart,
    CASE
      WHEN NOT $minmax THEN $decay ^ candidate.hours
      WHEN recencyMin = 1.0 THEN 1.0
      ELSE ($decay ^ (candidate.hours - hoursMin) - recencyMin) / (1.0 - recencyMin)
    END AS recencyPart
  WITH
    candidate, memory, relevancePart, recencyPart,
    CASE
      WHEN NOT $minmax THEN memory.importance / 10.0
      WHEN importanceMax = importanceMin THEN 1.0
      ELSE toFloat(memory.importance - importanceMin) / (importanceMax - importanceMin)
    END AS importancePart
  WITH
    *,
    $relevanceWeight * relevancePart + $recencyWeight * recencyPart + $importanceWeight * importancePart AS score
  ORDER BY score DESC, candidate.hours ASC, memory.id ASC
  // Memories of one type, source and text are one hit: the best scored stands for all.
  WITH
    candidate.active AS active,
    memory:Observation AS observed,
    memory:Plan AS planned,
    memory.source AS source,
    memory.textHash AS textHash,
    collect({
      memory: memory, score: score, relevance: candidate.relevance, hours: candidate.hours,
      relevancePart: relevancePart, recencyPart: recencyPart, importancePart: importancePart
    }) AS group
  WITH active, head(group) AS best, size(group) AS size
  ORDER BY best.score DESC, best.hours ASC, best.memory.id ASC
  RETURN
    sum(CASE WHEN active THEN 1 ELSE 0 END) AS kept,
    collect(CASE WHEN active THEN best {.*, occurrences: size} END)[..$k] AS top,
    collect(CASE WHEN NOT active THEN best.score END) AS staleScores
}
CALL (top) {
  UNWIND top AS hit
  WITH hit, hit.memory AS memory
  RETURN collect(hit {
    .score, .relevance, .relevancePart, .recencyPart, .importancePart, .occurrences,
    recency: $decay ^ hit.hours,
    memory: memory {.*, embedding: null},
    labels: labels(memory)
  }) AS hits
}
RETURN
  looked,
  kept,
  COUNT {
    MATCH (memory:Memory {agentId: $agentId, notEmbedded: true})
    WHERE memory.recordedAt <= $asOf
  } AS notEmbedded,
  CASE
    WHEN size(top) < $k THEN size(staleScores[..$k])
    ELSE size([score IN staleScores[..$k] WHERE score >= top[-1].score])
  END AS withheldStale,
  hits
