"""Calibration: labelled questions that go in, a fitted profile with what it is worth that comes out."""

from __future__ import annotations

from pydantic import Field

from graphmem.models.retrieval import Profile
from graphmem.models.values import Id, Text, Value


class Question(Value):
    """A question with the memories that answer it."""

    query: Text
    relevant: tuple[Id, ...] = Field(min_length=1)
    category: str = ""


class Estimate(Value):
    """A mean over questions with its 95 % confidence interval, by bootstrap over the questions."""

    mean: float
    low: float
    high: float


class Measured(Value):
    """How well a profile finds what was asked for, each in [0, 1]."""

    ndcg_at_10: Estimate
    recall_at_5: Estimate
    recall_at_10: Estimate
    recall_at_20: Estimate
    by_category: dict[str, float] = Field(default_factory=dict)
    """Recall@10 by category of question."""


class Calibration(Value):
    """What calibrating found."""

    questions: int
    folds: int
    before: Measured
    after: Measured
    """Cross-validated: each question by a profile fitted without it."""
    gain: Estimate
    """Of nDCG@10, after − before, question by question."""
    profile: Profile
    """Fitted on all questions."""
