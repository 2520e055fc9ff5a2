"""The score of a memory, as formulas in Python: the oracle that the Cypher is tested against.

Park et al. 2023, section 4.1: recency 0.995 ** hours since the last access, importance as rated, relevance as the
cosine of the embeddings; each min–max scaled to [0, 1] over the memories; a weighted sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from graphmem.models import Blend, Profile


@dataclass(frozen=True)
class Candidate:
    """What a memory brings to the score."""

    id: str
    relevance: float | None
    """Cosine with the query, in [-1, 1]; None when the memory is not embedded."""
    last_accessed_at: datetime
    importance: int
    """1–10."""


@dataclass(frozen=True)
class Scored:
    """A candidate with its parts."""

    id: str
    score: float
    relevance: float
    recency: float
    importance: float
    """The three parts normalised, before their weights."""
    hours: float


def hours_since(last_accessed_at: datetime, now: datetime) -> float:
    """Hours from the last access to now; 0 for an access in the future, so that recency stays within [0, 1]."""
    return max(0.0, (now - last_accessed_at).total_seconds() / 3600)


def recency(hours: float, decay: float = 0.995) -> float:
    """Exponential decay per hour, in [0, 1]."""
    return decay**hours


def scale(value: float, low: float, high: float) -> float:
    """Min–max to [0, 1] for values within the bounds; 1 when the bounds are equal."""
    return 1.0 if high == low else (value - low) / (high - low)


def score_all(candidates: Sequence[Candidate], profile: Profile, now: datetime) -> list[Scored]:
    """Score an agent's active memories, best first: by score, then recency, then id.

    With ``normalise="minmax"`` each part is scaled over all candidates. Recency is scaled from hours relative to the
    newest access, so that memories decades old do not underflow, and by a spread of at least ``recency_floor`` hours.
    A memory without a vector has relevance 0 and does not count towards the bounds.
    """
    if not candidates:
        return []
    hours = {c.id: hours_since(c.last_accessed_at, now) for c in candidates}
    newest, oldest = min(hours.values()), max(hours.values())
    relevances = [c.relevance for c in candidates if c.relevance is not None]
    importances = [c.importance for c in candidates]
    scored: list[Scored] = []
    for c in candidates:
        if profile.normalise == "minmax":
            rel = 0.0 if c.relevance is None else scale(c.relevance, min(relevances), max(relevances))
            least = recency(max(oldest - newest, profile.recency_floor), profile.decay)
            rec = scale(recency(hours[c.id] - newest, profile.decay), least, 1.0)
            imp = scale(c.importance, min(importances), max(importances))
        else:
            rel = 0.0 if c.relevance is None else c.relevance
            rec = recency(hours[c.id], profile.decay)
            imp = c.importance / 10
        w = profile.weights
        total = w.relevance * rel + w.recency * rec + w.importance * imp
        scored.append(Scored(c.id, total, rel, rec, imp, hours[c.id]))
    return sorted(scored, key=lambda s: (-s.score, s.hours, s.id))


@dataclass(frozen=True)
class Turns:
    """What candidates bring to a blended relevance; n candidates, s searches."""

    cosines: NDArray[np.float64]
    """Shape (n,): cosine with the query in [-1, 1]; nan where not embedded."""
    matches: NDArray[np.float64]
    """Shape (s, n): BM25 of each search, ≥ 0."""
    match_weights: NDArray[np.float64]
    """Shape (s,): 1 for a word of the text, ``Blend.date`` for the date."""
    spoke: NDArray[np.bool_]
    """Shape (n,): whether the query names who said it."""
    earlier: NDArray[np.intp]
    """Shape (reach, n): which candidate is 1, 2, … turns earlier in the same session; -1 for none."""
    later: NDArray[np.intp]
    """Shape (reach, n): likewise 1, 2, … turns later."""


@dataclass(frozen=True)
class Blended:
    """Relevance and what it is made of, each of shape (n,) and in [0, 1]."""

    relevance: NDArray[np.float64]
    vector: NDArray[np.float64]
    text: NDArray[np.float64]
    speaker: NDArray[np.float64]


def blend(turns: Turns, how: Blend) -> Blended:
    """Relevance of vectors, words, speaker and neighbouring turns.

    - vector: cosines min–max scaled, by a spread of at least ``vector_floor`` below the highest; with v × share of each
      neighbour added, then divided by 1 + the sum of those shares, v being ``neighbours.vectors``.
    - text: for each search the highest of a memory's own BM25 and share × BM25 of each neighbour, so that a word counts
      once in several turns; their weighted sum, divided by the highest among the candidates (BM25 has a zero of its
      own).
    - speaker: 1 or 0.

    The three are weighted by :meth:`Blend.shares`.
    """
    around = how.neighbours
    embedded = ~np.isnan(turns.cosines)
    own = np.zeros(len(turns.cosines))
    if embedded.any():
        high = turns.cosines[embedded].max()
        spread = max(high - turns.cosines[embedded].min(), how.vector_floor)
        own[embedded] = 1.0 if spread == 0 else 1 - (high - turns.cosines[embedded]) / spread
    vector = own.copy()
    matches = turns.matches.copy()
    for indices, shares in ((turns.earlier, around.before), (turns.later, around.after)):
        for index, share in zip(indices, shares, strict=True):
            there = index >= 0
            vector[there] += around.vectors * share * own[index[there]]
            matches[:, there] = np.maximum(matches[:, there], share * turns.matches[:, index[there]])
    vector /= 1 + around.vectors * (sum(around.before) + sum(around.after))
    words = turns.match_weights @ matches if len(matches) else np.zeros(len(own))
    most = words.max(initial=0.0)
    text = words / most if most > 0 else words
    speaker = turns.spoke.astype(np.float64)
    by_vector, by_text, by_speaker = how.shares()
    return Blended(by_vector * vector + by_text * text + by_speaker * speaker, vector, text, speaker)
