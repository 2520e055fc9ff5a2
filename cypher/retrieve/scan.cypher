// The paper's retrieval by scoring every held memory of an agent: exact, and linear in their number.
// The formulas are those of graphmem/scoring.py. Bounds come from all active memories, whatever the caller filters.
// Recency is normalised from hours relative to the newest access, so that old memories do not underflow.
// Returns: hits LIST<MAP> best first, considered, withheldStale, notEmbedded INTEGER
MATCH (memory:Memory {agentId: $agentId})
WHERE memory.status IN ['active', 'stale']
WITH
  memory,
  memory.status = 'active' AS active,
  2 * vector.similarity.cosine(memory.embedding, $vector) - 1 AS relevance,
  CASE
    WHEN memory.lastAccessedAt >= $now THEN 0.0
    ELSE ($nowMillis - memory.lastAccessedAt.epochMillis) / 3600000.0
  END AS hours
WITH
  collect({memory: memory, active: active, relevance: relevance, hours: hours}) AS rows,
  count(CASE WHEN active THEN 1 END) AS considered,
  count(CASE WHEN active AND relevance IS NULL THEN 1 END) AS notEmbedded,
  min(CASE WHEN active THEN relevance END) AS relevanceMin,
  max(CASE WHEN active THEN relevance END) AS relevanceMax,
  min(CASE WHEN active THEN hours END) AS hoursMin,
  max(CASE WHEN active THEN hours END) AS hoursMax,
  min(CASE WHEN active THEN memory.importance END) AS importanceMin,
  max(CASE WHEN active THEN memory.importance END) AS importanceMax
WITH *, $decay ^ (hoursMax - hoursMin) AS recencyMin
UNWIND rows AS row
WITH
  considered, notEmbedded, row.memory AS memory, row.active AS active, row.relevance AS relevance, row.hours AS hours,
  CASE
    WHEN row.relevance IS NULL THEN 0.0
    WHEN NOT $minmax THEN row.relevance
    WHEN relevanceMax = relevanceMin THEN 1.0
    ELSE (row.relevance - relevanceMin) / (relevanceMax - relevanceMin)
  END AS relevancePart,
  CASE
    WHEN NOT $minmax THEN $decay ^ row.hours
    WHEN recencyMin = 1.0 THEN 1.0
    ELSE ($decay ^ (row.hours - hoursMin) - recencyMin) / (1.0 - recencyMin)
  END AS recencyPart,
  CASE
    WHEN NOT $minmax THEN row.memory.importance / 10.0
    WHEN importanceMax = importanceMin THEN 1.0
    ELSE toFloat(row.memory.importance - importanceMin) / (importanceMax - importanceMin)
  END AS importancePart
WHERE $kinds IS NULL OR memory.kind IN $kinds
WITH
  *,
  $relevanceWeight * relevancePart + $recencyWeight * recencyPart + $importanceWeight * importancePart AS score
ORDER BY score DESC, hours ASC, memory.id ASC
// Memories of one type, source and text are one hit: the best scored stands for all.
WITH
  considered, notEmbedded, active, memory:Observation AS observed, memory:Plan AS planned,
  memory.source AS source, memory.textHash AS textHash, memory.text AS text,
  collect({
    memory: memory, score: score, relevance: relevance, hours: hours,
    relevancePart: relevancePart, recencyPart: recencyPart, importancePart: importancePart
  }) AS group
WITH considered, notEmbedded, active, head(group) AS best, size(group) AS occurrences
ORDER BY best.score DESC, best.hours ASC, best.memory.id ASC
WITH
  considered, notEmbedded,
  collect(CASE WHEN active THEN best {.*, occurrences: occurrences} END)[..$k] AS top,
  collect(CASE WHEN NOT active THEN best.score END) AS staleScores
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
  considered,
  notEmbedded,
  CASE
    WHEN size(top) < $k THEN size(staleScores[..$k])
    ELSE size([score IN staleScores[..$k] WHERE score >= top[-1].score])
  END AS withheldStale,
  hits
