"""Provenance: what a memory rests on, and what happened to it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from graphmem.models.memories import AnyMemory
from graphmem.models.runs import RunInfo, RunRef
from graphmem.models.values import Mode, Value


class Ground(Value):
    """An edge from a derived memory to what it rests on."""

    source: str
    target: str
    type: Literal["CITES", "DERIVED_FROM"]
    rank: int = 0
    support: float | None = None
    since: datetime
    until: datetime | None = None
    """When it stopped being a ground; None while it is one."""
    past: bool = False
    """It is cited as it was, until an update superseded it: that does not make what rests on it stale."""


class Supersession(Value):
    """An edge from a newer memory to the one it replaced."""

    newer: str
    older: str
    at: datetime
    mode: Mode
    reason: str
    by: str


class Cause(Value):
    """Why a memory is or was stale: one of its grounds changed."""

    memory: str
    because: str
    since: datetime
    until: datetime | None = None


class Provenance(Value):
    """Memories and what they rest on, down to the observations."""

    agent_id: str
    as_of: datetime | None = None
    """The moment at which it stood so; None: now."""
    roots: tuple[str, ...]
    """Where to start reading: the memory asked for, or every reflection that nothing rests on."""
    memories: dict[str, AnyMemory]
    grounds: tuple[Ground, ...]
    """In the order of rank for each memory; ended ones included."""
    supersessions: tuple[Supersession, ...] = ()
    causes: tuple[Cause, ...] = ()
    runs: dict[str, RunInfo] = Field(default_factory=dict[str, RunInfo])
    """The run that produced a memory, by the memory's id."""

    def grounds_of(self, memory_id: str, *, ended: bool = False) -> tuple[Ground, ...]:
        """The edges to what this memory rests on now; with ``ended`` also those of the past."""
        return tuple(
            ground for ground in self.grounds if ground.source == memory_id and (ended or ground.until is None)
        )


HistoryType = Literal[
    "observed",
    "inferred",
    "planned",
    "reinforced",
    "stale",
    "active",
    "confirmed",
    "superseded",
    "supersedes",
    "retracted",
    "restored",
    "gave_way",
    "finished",
    "rated",
    "archived",
    "forgotten",
    "changed",
]
"""What happened to a memory: it was observed, inferred or planned; gained evidence; turned stale, or active again
because what it rests on holds; was confirmed as it stands; was superseded, or took another's place; was retracted, or
restored; gave way again to what it had replaced; was finished, as a plan is of which it is known what became of it; got
another importance; was put away; was forgotten; or changed in a way that the verb tells."""


class HistoryEvent(Value):
    """One thing that happened to a memory."""

    type: HistoryType
    at: datetime
    verb: str | None = None
    """In which verb, e.g. ``observe`` or ``recompute``; None where it followed from a change further below."""
    by: str = ""
    """``caller``, or the language model by name; empty where it followed from another change."""
    reason: str = ""
    mode: Mode | None = None
    """Of a supersession."""
    other: str | None = None
    """The other memory: the replacement, the one replaced, or the ground at fault."""
    other_text: str | None = None
    importance_before: int | None = None
    importance_after: int | None = None
    """Where it got another importance."""
    seq: int | None = None
    """The agent's revision in which it happened, where one is known."""
    run_id: str | None = None
    """The run of a language model that wrote the memory."""


class TimelineEvent(Value):
    """One thing that happened to one of an agent's memories."""

    event: HistoryEvent
    memory: AnyMemory
    """As it is today."""


class LogEntry(Value):
    """One entry of an agent's log of changes."""

    seq: int
    """The agent's revision; all that changed in one transaction shares it."""
    ordinal: int
    verb: str
    """E.g. ``supersede``, ``recompute:revised`` or ``resolve:superseded``."""
    at: datetime
    by: str
    """``caller``, or the language model by name."""
    reason: str = ""
    run_id: str | None = None
    """The run of a language model that decided it."""
    memory: AnyMemory
    """What was changed, as it is today."""
    replacement: str | None = None
    """The memory that this change put in its place."""
    replacement_text: str | None = None
    undone: bool = False
    """Whether the memory was held again later."""


class Changed(Value):
    """What a listener is told once a change of belief is committed."""

    agent_id: str
    verb: str
    """``supersede``, ``retract``, ``restore``, ``forget``, ``archive``, ``unarchive``, ``recompute``, ``resolve``;
    ``observe`` for keyed facts."""
    revision: int
    ended: tuple[str, ...] = ()
    """Memories that are no longer held: they have ended, or were put away."""
    held: tuple[str, ...] = ()
    """Memories that are held now in their place, or again."""
    stale: tuple[str, ...] = ()
    """What turned stale."""
    active: tuple[str, ...] = ()
    """What turned active again."""
    used_by: tuple[RunRef, ...] = ()
    """Runs whose prompts had shown what ended: answers, utterances and plans that may rest on it."""
