// The paper's retrieval at index cost: exact without a scan of the agent's memories.
// V: the n most relevant. S: the m best by recency and importance, which do not depend on the query; per importance
// level the m latest by an ordered index seek, merged. Nothing outside both can score above bound.
// Filters loosen nothing: S takes the best that pass them, and where few pass, $filters.only names those, which are all
// scored.
// Bounds of the normalisation ignore the filters: they come from index seeks, V, and a search with the negated vector.
// filters MAP: kinds LIST<STRING>, since, until ZONED DATETIME, place, source STRING, only LIST<STRING>, each or null
// Returns: hits LIST<MAP> best first; bound FLOAT or null (nothing is outside): what no memory outside can exceed;
// taken INTEGER: candidates before those of equal text were joined; notEmbedded, withheldStale INTEGER
CALL () {
  UNWIND range(1, 10) AS level
  CALL (level) {
    MATCH (memory:Memory {agentId: $agentId, status: 'active', importance: level})
    WHERE memory.lastAccessedAt IS NOT NULL
    WITH memory
    ORDER BY memory.agentId DESC, memory.status DESC, memory.importance DESC, memory.lastAccessedAt DESC
    LIMIT 1
    RETURN memory.lastAccessedAt AS newest
  }
  CALL (level) {
    MATCH (memory:Memory {agentId: $agentId, status: 'active', importance: level})
    WHERE memory.lastAccessedAt IS NOT NULL
    WITH memory
    ORDER BY memory.agentId, memory.status, memory.importance, memory.lastAccessedAt
    LIMIT 1
    RETURN memory.lastAccessedAt AS oldest
  }
  WITH
    min(level) AS importanceMin,
    max(level) AS importanceMax,
    max(newest) AS newest,
    min(oldest) AS oldest,
    collect(level) AS levels
  RETURN
    levels, importanceMin, importanceMax,
    CASE WHEN newest >= $now THEN 0.0 ELSE ($nowMillis - newest.epochMillis) / 3600000.0 END AS hoursMin,
    CASE WHEN oldest >= $now THEN 0.0 ELSE ($nowMillis - oldest.epochMillis) / 3600000.0 END AS hoursMax
}
WITH
  *,
  $decay ^ CASE WHEN hoursMax - hoursMin > $recencyFloor THEN hoursMax - hoursMin ELSE $recencyFloor END AS recencyMin
CALL (levels, importanceMin, importanceMax, hoursMin, recencyMin) {
  UNWIND CASE WHEN $filters.only IS NULL THEN levels ELSE [] END AS level
  CALL (level) {
    MATCH (memory:Memory {agentId: $agentId, status: 'active', importance: level})
    WHERE memory.lastAccessedAt IS NOT NULL
      AND ($filters.kinds IS NULL OR memory.kind IN $filters.kinds)
      AND ($filters.since IS NULL OR memory.occurredAt >= $filters.since)
      AND ($filters.until IS NULL OR memory.occurredAt < $filters.until)
      AND ($filters.place IS NULL OR memory.place = $filters.place)
      AND ($filters.source IS NULL OR memory.source = $filters.source)
    WITH memory
    ORDER BY memory.agentId DESC, memory.status DESC, memory.importance DESC, memory.lastAccessedAt DESC
    LIMIT $m
    RETURN memory, memory.lastAccessedAt AS accessed
  }
  WITH
    memory, level,
    CASE WHEN accessed >= $now THEN 0.0 ELSE ($nowMillis - accessed.epochMillis) / 3600000.0 END AS hours,
    hoursMin, recencyMin, importanceMin, importanceMax
  WITH
    memory,
    $recencyWeight * CASE
      WHEN NOT $minmax THEN $decay ^ hours
      WHEN recencyMin = 1.0 THEN 1.0
      ELSE ($decay ^ (hours - hoursMin) - recencyMin) / (1.0 - recencyMin)
    END + $importanceWeight * CASE
      WHEN NOT $minmax THEN level / 10.0
      WHEN importanceMax = importanceMin THEN 1.0
      ELSE toFloat(level - importanceMin) / (importanceMax - importanceMin)
    END AS standing
  ORDER BY standing DESC
  LIMIT $m
  RETURN
    collect({memory: memory, relevance: null, active: true}) AS ranked,
    CASE WHEN count(memory) < $m THEN null ELSE min(standing) END AS standingBound
}
CALL () {
  UNWIND coalesce($filters.only, []) AS id
  MATCH (memory:Memory {agentId: $agentId, id: id})
  RETURN collect({memory: memory, relevance: null, active: memory.status = 'active'}) AS chosen
}
CALL () {
  MATCH (memory:Memory)
    SEARCH memory IN (
      VECTOR INDEX memoryEmbedding
      FOR $vector
      WHERE memory.agentId = $agentId AND memory.held = true
      LIMIT $n
    ) SCORE AS similarity
  WITH memory, 2 * similarity - 1 AS relevance, memory.status = 'active' AS active
  RETURN
    collect({memory: memory, relevance: relevance, active: active}) AS relevant,
    count(memory) AS near,
    min(relevance) AS nearLast
}
CALL () {
  MATCH (memory:Memory)
    SEARCH memory IN (
      VECTOR INDEX memoryEmbedding
      FOR $negated
      WHERE memory.agentId = $agentId AND memory.held = true
      LIMIT 64
    ) SCORE AS similarity
  WHERE memory.status = 'active'
  RETURN min(1 - 2 * similarity) AS farLeast
}
WITH
  relevant + ranked + chosen AS listed,
  near, nearLast, farLeast, standingBound, hoursMin, recencyMin, importanceMin, importanceMax
UNWIND listed AS candidate
// Each memory once. Rows that are sorted must not carry a list: it would count against the memory limit once a row.
// So S, which sorts, comes before V, and each UNWIND is followed by an aggregation, which drops the list.
WITH
  near, nearLast, farLeast, standingBound, hoursMin, recencyMin, importanceMin, importanceMax,
  candidate.memory AS memory,
  candidate.active AS active,
  max(candidate.relevance) AS found
WITH *, coalesce(found, 2 * vector.similarity.cosine(memory.embedding, $vector) - 1) AS relevance
WITH
  near, nearLast, farLeast, standingBound, hoursMin, recencyMin, importanceMin, importanceMax,
  collect({memory: memory, active: active, relevance: relevance}) AS candidates,
  min(CASE WHEN active THEN relevance END) AS foundLeast,
  max(CASE WHEN active THEN relevance END) AS relevanceMax
WITH
  *,
  CASE
    WHEN (standingBound IS NOT NULL OR $filtered) AND farLeast < foundLeast THEN farLeast
    ELSE foundLeast
  END AS relevanceMin
WITH
  *,
  CASE
    WHEN standingBound IS NULL THEN null
    WHEN near < $n THEN standingBound
    WHEN NOT $minmax THEN standingBound + $relevanceWeight * nearLast
    WHEN relevanceMax = relevanceMin THEN standingBound + $relevanceWeight
    ELSE standingBound + $relevanceWeight * (nearLast - relevanceMin) / (relevanceMax - relevanceMin)
  END AS bound
UNWIND candidates AS candidate
WITH
  bound, hoursMin, recencyMin, importanceMin, importanceMax, relevanceMin, relevanceMax,
  candidate.memory AS memory,
  candidate.active AS active,
  max(candidate.relevance) AS relevance
WITH
  *,
  ($filters.kinds IS NULL OR memory.kind IN $filters.kinds)
    AND ($filters.since IS NULL OR memory.occurredAt >= $filters.since)
    AND ($filters.until IS NULL OR memory.occurredAt < $filters.until)
    AND ($filters.place IS NULL OR memory.place = $filters.place)
    AND ($filters.source IS NULL OR memory.source = $filters.source) AS wanted,
  CASE
    WHEN memory.lastAccessedAt >= $now THEN 0.0
    ELSE ($nowMillis - memory.lastAccessedAt.epochMillis) / 3600000.0
  END AS hours
WITH
  bound, memory, active, wanted, relevance, hours,
  CASE
    WHEN relevance IS NULL THEN 0.0
    WHEN NOT $minmax THEN relevance
    WHEN relevanceMax = relevanceMin THEN 1.0
    ELSE (relevance - relevanceMin) / (relevanceMax - relevanceMin)
  END AS relevancePart,
  CASE
    WHEN NOT $minmax THEN $decay ^ hours
    WHEN recencyMin = 1.0 THEN 1.0
    ELSE ($decay ^ (hours - hoursMin) - recencyMin) / (1.0 - recencyMin)
  END AS recencyPart,
  CASE
    WHEN NOT $minmax THEN memory.importance / 10.0
    WHEN importanceMax = importanceMin THEN 1.0
    ELSE toFloat(memory.importance - importanceMin) / (importanceMax - importanceMin)
  END AS importancePart
WITH
  *,
  $relevanceWeight * relevancePart + $recencyWeight * recencyPart + $importanceWeight * importancePart AS score
ORDER BY wanted DESC, score DESC, hours ASC, memory.id ASC
LIMIT $take
// Memories of one type, source and text are one hit: the best scored stands for all.
WITH
  bound, active, wanted, memory:Observation AS observed, memory:Plan AS planned,
  memory.source AS source, memory.textHash AS textHash,
  collect({
    memory: memory, score: score, relevance: relevance, hours: hours,
    relevancePart: relevancePart, recencyPart: recencyPart, importancePart: importancePart
  }) AS group
WITH bound, active, wanted, head(group) AS best, size(group) AS size
ORDER BY best.score DESC, best.hours ASC, best.memory.id ASC
WITH
  bound,
  sum(CASE WHEN wanted THEN size ELSE 0 END) AS taken,
  collect(CASE WHEN active AND wanted THEN best END)[..$k] AS top,
  collect(CASE WHEN NOT active AND wanted THEN best.score END) AS staleScores
CALL (top) {
  UNWIND top AS hit
  WITH hit, hit.memory AS memory
  RETURN collect(hit {
    .score, .relevance, .relevancePart, .recencyPart, .importancePart,
    recency: $decay ^ hit.hours,
    occurrences: COUNT {
      MATCH (other:Memory {agentId: $agentId, textHash: memory.textHash})
      WHERE other.status = 'active'
        AND coalesce(other.source, '') = coalesce(memory.source, '')
        AND (other:Observation) = (memory:Observation)
        AND (other:Plan) = (memory:Plan)
        AND ($filters.kinds IS NULL OR other.kind IN $filters.kinds)
        AND ($filters.since IS NULL OR other.occurredAt >= $filters.since)
        AND ($filters.until IS NULL OR other.occurredAt < $filters.until)
        AND ($filters.place IS NULL OR other.place = $filters.place)
        AND ($filters.source IS NULL OR other.source = $filters.source)
    },
    memory: memory {.*, embedding: null},
    labels: labels(memory)
  }) AS hits
}
RETURN
  bound,
  taken,
  COUNT { (:Memory {agentId: $agentId, notEmbedded: true}) } AS notEmbedded,
  CASE
    WHEN size(top) < $k THEN size(staleScores[..$k])
    ELSE size([score IN staleScores[..$k] WHERE score >= top[-1].score])
  END AS withheldStale,
  hits
