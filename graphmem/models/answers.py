"""Answers from memory: sentences with what they rest on."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from graphmem.models.runs import Refused
from graphmem.models.values import Value

MemoryType = Literal["observation", "reflection", "plan"]

UNKNOWN = "I do not know."
"""The text of an answer where memory does not tell."""


class Sentence(Value):
    """One sentence of an answer."""

    text: str
    citations: tuple[str, ...]
    """Ids of the memories that bear it out; none only where it says what the agent is told to be."""
    inferred: bool
    """Nothing that it cites was perceived or heard: it was inferred, or is intended."""
    described: bool = False
    """It says what the agent is told to be (name, traits, home), which is no memory; ``configure`` changes it."""


class Answer(Value):
    """What an agent can say to a question from its memory, and from nothing else."""

    agent_id: str
    question: str
    text: str
    """The sentences in one; ``I do not know.`` where there are none."""
    sentences: tuple[Sentence, ...] = ()
    known: bool
    """Whether memory tells; where it does not, ``looked_at`` says what was considered."""
    looked_at: tuple[str, ...] = ()
    """Ids of the memories that the prompt showed, in the order of their numbers: supersede, retract and forget report
    this answer's run for each of them."""
    refused: tuple[Refused, ...] = ()
    """Sentences that a gate refused; they are not in the answer."""
    run_id: str
    withheld_stale: int = 0
    """Stale memories that would have been looked at if they were active."""
    left_out: tuple[str, ...] = ()
    """Ids of relevant memories that the token budget had no room for."""
    as_of: datetime | None = None
    """The moment of which it tells what was believed; None where that is now."""
    now: datetime
    """When it was asked; with ``as_of`` that moment."""

    @property
    def citations(self) -> tuple[str, ...]:
        """Ids of all memories that it cites, each once."""
        return tuple(dict.fromkeys(id_ for sentence in self.sentences for id_ in sentence.citations))
