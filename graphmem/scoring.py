"""The score of a memory, as formulas in Python: the oracle that the Cypher is tested against.

Park et al. 2023, section 4.1: recency 0.995 ** hours since the last access, importance as rated, relevance as the
cosine of the embeddings; each min–max scaled to [0, 1] over the memories; a weighted sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.models import Profile


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
    newest access, so that memories decades old do not underflow. A memory without a vector has relevance 0 and
    does not count towards the bounds.
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
            rec = scale(recency(hours[c.id] - newest, profile.decay), recency(oldest - newest, profile.decay), 1.0)
            imp = scale(c.importance, min(importances), max(importances))
        else:
            rel = 0.0 if c.relevance is None else c.relevance
            rec = recency(hours[c.id], profile.decay)
            imp = c.importance / 10
        w = profile.weights
        total = w.relevance * rel + w.recency * rec + w.importance * imp
        scored.append(Scored(c.id, total, rel, rec, imp, hours[c.id]))
    return sorted(scored, key=lambda s: (-s.score, s.hours, s.id))
