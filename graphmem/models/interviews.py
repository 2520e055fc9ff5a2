"""Interviews and evaluations: one history questioned under several conditions, and three figures apart."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from graphmem.models.answers import Answer, MemoryType
from graphmem.models.values import Value

Area = Literal["self-knowledge", "memory", "plans", "reactions", "reflections"]
"""The five kinds of questions of Park et al. 2023, section 6."""
Condition = Literal["full", "no reflection", "no reflection, no planning", "no memory"]

CONDITIONS: dict[Condition, tuple[MemoryType, ...] | None] = {
    "full": None,
    "no reflection": ("observation", "plan"),
    "no reflection, no planning": ("observation",),
    "no memory": (),
}
"""Which types of memory each condition leaves; None: all."""


class Asked(Value):
    """One question and its answer under each condition."""

    area: Area
    question: str
    answers: dict[Condition, Answer]


class Interview(Value):
    """An interview over one finished history, which it does not change."""

    agent_id: str
    name: str
    now: datetime
    asked: tuple[Asked, ...]
    grounds: dict[str, str]
    """The text of every memory that an answer cites, by its id."""


class Past(Value):
    """Answers to labelled questions about the past."""

    questions: int = 0
    right: int = 0
    """They cite one of the memories that answer the question."""
    unknown: int = 0
    """Said not to be known, though a memory tells."""
    wrong: int = 0
    """They cite other memories only."""


class Consistency(Value):
    """Whether the plans can be carried out, and whether the agent says what it plans."""

    plans: int = 0
    overlaps: int = 0
    """Pairs of the finest plans at the same time."""
    impossible: int = 0
    """Plans that end before they begin, or at once."""
    asked: int = 0
    """Plans about whose time the agent was asked."""
    agrees: int = 0
    """Answers that cite the plan of that time."""


class Behaviour(Value):
    """What became of the finest plans whose time is over."""

    over: int = 0
    done: int = 0
    missed: int = 0
    dropped: int = 0
    open: int = 0
    """Nobody has said what became of them."""


class Evaluation(Value):
    """Three figures apart: answers about the past, consistency of plans, behaviour against the plan."""

    agent_id: str
    now: datetime
    past: Past
    consistency: Consistency
    behaviour: Behaviour
