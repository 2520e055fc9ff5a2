// Retrieval whose relevance blends vectors, words, speaker and neighbouring turns; formulas: graphmem/scoring.py, blend.
// Candidates: the n most relevant by vector, the n best by words, those of $filters.only; the best of them lend to the
// turns next to them in their session, which become candidates too. Bounds are those of the candidates: an approximation
// of scoring all, and the same where n covers all that the agent holds.
// filters MAP: kinds LIST<STRING>, since, until ZONED DATETIME, place, source STRING, only LIST<STRING>, each or null
// searches LIST<STRING>: of the index memoryText, scoped to the agent, with a weight each in searchWeights
// before, after LIST<FLOAT>: the shares that turns before and after lend. lentMost FLOAT: their sum for vectors
// Returns: hits LIST<MAP> best first; taken INTEGER: candidates before those of equal text were joined;
// notEmbedded, withheldStale INTEGER
CALL () {
  MATCH (memory:Memory)
    SEARCH memory IN (
      VECTOR INDEX memoryEmbedding
      FOR $vector
      WHERE memory.agentId = $agentId AND memory.held = true
      LIMIT $n
    ) SCORE AS similarity
  RETURN collect({memory: memory, relevance: 2 * similarity - 1, matches: null}) AS near
}
CALL () {
  UNWIND range(0, size($searches) - 1) AS search
  CALL (search) {
    MATCH (memory:Memory)
      SEARCH memory IN (FULLTEXT INDEX memoryText FOR $searches[search] LIMIT $n) SCORE AS found
    WITH memory, found
    WHERE found > 0 AND memory.agentId = $agentId
    RETURN memory, found
  }
  WITH memory, collect([search, found]) AS matches, sum($searchWeights[search] * found) AS total
  ORDER BY total DESC, memory.id
  LIMIT $n
  RETURN collect({memory: memory, relevance: null, matches: matches}) AS worded
}
CALL () {
  UNWIND coalesce($filters.only, []) AS id
  MATCH (memory:Memory {agentId: $agentId, id: id})
  RETURN collect({memory: memory, relevance: null, matches: null}) AS asked
}
WITH near + worded + asked AS listed
UNWIND listed AS candidate
WITH
  candidate.memory AS memory,
  max(candidate.relevance) AS found,
  coalesce(head(collect(candidate.matches)), []) AS matches
WITH
  memory, matches, memory.status = 'active' AS active,
  coalesce(found, 2 * vector.similarity.cosine(memory.embedding, $vector) - 1) AS relevance,
  reduce(total = 0.0, match IN matches | total + $searchWeights[match[0]] * match[1]) AS words
WITH
  collect({memory: memory, matches: matches, active: active, relevance: relevance, words: words}) AS candidates,
  min(CASE WHEN active THEN relevance END) AS relevanceMin,
  max(CASE WHEN active THEN relevance END) AS relevanceMax,
  max(CASE WHEN active THEN words END) AS wordsMax
WITH
  candidates, relevanceMax, wordsMax,
  CASE WHEN relevanceMax - relevanceMin > $vectorFloor THEN relevanceMax - relevanceMin ELSE $vectorFloor END AS spread
UNWIND candidates AS candidate
// Aggregated once more, which drops the list: rows that are sorted must not carry it, for it would count against the
// memory limit once a row; for the same reason the best are chosen here and not in the subquery that is given them.
WITH
  relevanceMax, spread, wordsMax,
  candidate.memory AS memory,
  candidate.active AS active,
  candidate.relevance AS relevance,
  candidate.words AS words,
  head(collect(candidate.matches)) AS matches
WITH
  *,
  CASE
    WHEN relevance IS NULL THEN 0.0
    WHEN spread = 0.0 THEN 1.0
    ELSE 1 - (relevanceMax - relevance) / spread
  END AS part
WITH
  *, $vectorWeight * part + CASE WHEN wordsMax > 0 THEN $textWeight * words / wordsMax ELSE 0.0 END AS own
ORDER BY own DESC, memory.id
WITH
  relevanceMax, spread,
  collect({memory: memory, active: active, relevance: relevance, matches: matches, part: part}) AS candidates
WITH
  *,
  [candidate IN candidates WHERE candidate.active AND candidate.memory.session IS NOT NULL][..$lenders] AS lenders
CALL (lenders) {
  UNWIND lenders AS candidate
  WITH candidate.memory AS lender, candidate.matches AS matches, candidate.part AS part
  CALL (lender) {
    MATCH (turn:Memory {agentId: $agentId, session: lender.session})
      USING INDEX SEEK turn:Memory(agentId, session, occurredAt)
    WHERE turn.occurredAt < lender.occurredAt AND turn.status = 'active'
    WITH turn
    ORDER BY turn.agentId DESC, turn.session DESC, turn.occurredAt DESC, turn.id DESC
    LIMIT size($after)
    WITH collect(turn) AS turns
    UNWIND range(0, size(turns) - 1) AS distance
    RETURN turns[distance] AS turn, $after[distance] AS share
  UNION ALL
    MATCH (turn:Memory {agentId: $agentId, session: lender.session})
      USING INDEX SEEK turn:Memory(agentId, session, occurredAt)
    WHERE turn.occurredAt > lender.occurredAt AND turn.status = 'active'
    WITH turn
    ORDER BY turn.agentId, turn.session, turn.occurredAt, turn.id
    LIMIT size($before)
    WITH collect(turn) AS turns
    UNWIND range(0, size(turns) - 1) AS distance
    RETURN turns[distance] AS turn, $before[distance] AS share
  }
  RETURN
    collect({
      memory: turn, active: true, relevance: null, lent: $vectorShare * share * part,
      matches: [match IN matches | [match[0], share * match[1]]]
    }) AS lent
}
WITH
  lent + [candidate IN candidates | candidate {.memory, .active, .relevance, .matches, lent: 0.0}] AS listed,
  relevanceMax, spread
UNWIND listed AS candidate
WITH
  relevanceMax, spread, candidate.memory AS memory, candidate.active AS active,
  max(candidate.relevance) AS found,
  sum(candidate.lent) AS lent,
  reduce(all = [], matches IN collect(candidate.matches) | all + matches) AS matches
WITH
  relevanceMax, spread, memory, active, lent,
  coalesce(found, 2 * vector.similarity.cosine(memory.embedding, $vector) - 1) AS relevance,
  reduce(
    total = 0.0, search IN range(0, size($searches) - 1) |
    total + $searchWeights[search] * reduce(
      best = 0.0, match IN matches |
      CASE WHEN match[0] = search AND match[1] > best THEN match[1] ELSE best END
    )
  ) AS words,
  CASE
    WHEN memory.lastAccessedAt >= $now THEN 0.0
    ELSE ($nowMillis - memory.lastAccessedAt.epochMillis) / 3600000.0
  END AS hours
WITH
  relevanceMax, spread,
  collect({memory: memory, active: active, lent: lent, relevance: relevance, words: words, hours: hours}) AS candidates,
  max(CASE WHEN active THEN words END) AS wordsMax,
  min(CASE WHEN active THEN hours END) AS hoursMin,
  max(CASE WHEN active THEN hours END) AS hoursMax,
  min(CASE WHEN active THEN memory.importance END) AS importanceMin,
  max(CASE WHEN active THEN memory.importance END) AS importanceMax
WITH
  *,
  $decay ^ CASE WHEN hoursMax - hoursMin > $recencyFloor THEN hoursMax - hoursMin ELSE $recencyFloor END AS recencyMin
UNWIND candidates AS candidate
WITH
  relevanceMax, spread, wordsMax, hoursMin, recencyMin, importanceMin, importanceMax,
  candidate.memory AS memory,
  candidate.active AS active,
  max(candidate.relevance) AS relevance,
  max(candidate.lent) AS lent,
  max(candidate.words) AS words,
  max(candidate.hours) AS hours
WITH
  memory, active, relevance, words, hours,
  (
    CASE
      WHEN relevance IS NULL OR relevanceMax - relevance > spread THEN 0.0
      WHEN spread = 0.0 THEN 1.0
      ELSE 1 - (relevanceMax - relevance) / spread
    END + lent
  ) / (1 + $lentMost) AS vectorPart,
  CASE WHEN wordsMax > 0 THEN words / wordsMax ELSE 0.0 END AS textPart,
  CASE
    WHEN any(word IN split(toLower(memory.source), ' ') WHERE word IN $speakers) THEN 1.0
    ELSE 0.0
  END AS speakerPart,
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
  $vectorWeight * vectorPart + $textWeight * textPart + $speakerWeight * speakerPart AS relevancePart,
  ($filters.kinds IS NULL OR memory.kind IN $filters.kinds)
    AND ($filters.since IS NULL OR memory.occurredAt >= $filters.since)
    AND ($filters.until IS NULL OR memory.occurredAt < $filters.until)
    AND ($filters.place IS NULL OR memory.place = $filters.place)
    AND ($filters.source IS NULL OR memory.source = $filters.source) AS wanted
WITH
  *,
  $relevanceWeight * relevancePart + $recencyWeight * recencyPart + $importanceWeight * importancePart AS score
ORDER BY wanted DESC, score DESC, hours ASC, memory.id ASC
LIMIT $take
// Memories of one type, source and text are one hit: the best scored stands for all.
WITH
  active, wanted, memory:Observation AS observed, memory:Plan AS planned,
  memory.source AS source, memory.textHash AS textHash,
  collect({
    memory: memory, score: score, relevance: relevance, hours: hours, words: words,
    relevancePart: relevancePart, recencyPart: recencyPart, importancePart: importancePart,
    vectorPart: vectorPart, textPart: textPart, speakerPart: speakerPart
  }) AS group
WITH active, wanted, head(group) AS best, size(group) AS size
ORDER BY best.score DESC, best.hours ASC, best.memory.id ASC
WITH
  sum(CASE WHEN wanted THEN size ELSE 0 END) AS taken,
  collect(CASE WHEN active AND wanted THEN best END)[..$k] AS top,
  collect(CASE WHEN NOT active AND wanted THEN best.score END) AS staleScores
CALL (top) {
  UNWIND top AS hit
  WITH hit, hit.memory AS memory
  RETURN collect(hit {
    .score, .relevance, .relevancePart, .recencyPart, .importancePart,
    .words, .vectorPart, .textPart, .speakerPart,
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
  taken,
  COUNT { (:Memory {agentId: $agentId, notEmbedded: true}) } AS notEmbedded,
  CASE
    WHEN size(top) < $k THEN size(staleScores[..$k])
    ELSE size([score IN staleScores[..$k] WHERE score >= top[-1].score])
  END AS withheldStale,
  hits
