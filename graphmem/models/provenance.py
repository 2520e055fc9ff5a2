"""Provenance: what a memory rests on, and what happened to it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from graphmem.models.memories import AnyMemory
from graphmem.models.runs import RunInfo
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
    "rated",
    "forgotten",
    "changed",
]
"""What happened to a memory: it was observed, inferred or planned; gained evidence; turned stale, or active again
because what it rests on holds; was confirmed as it stands; was superseded, or took another's place; was retracted, or
restored; gave way again to what it had replaced; got another importance; was forgotten; or changed in a way that the
verb tells."""


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
