"""Memories: what an agent observes, infers and plans."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from graphmem.clock import UtcTime
from graphmem.models.values import Id, Importance, ImportanceBy, Kind, Label, Status, Text, Value

PlanState = Literal["planned", "active", "done", "missed", "dropped"]


class NewObservation(Value):
    """What an agent perceives or hears, before it is stored."""

    text: Text
    kind: Literal["event", "utterance", "fact"] = "event"
    importance: Importance | None = None
    """1–10; rated by the language model when not given."""
    occurred_at: UtcTime | None = None
    """When it happened; the agent's now when not given."""
    source: Label | None = None
    """Who or what said it."""
    session: Label | None = None
    """The conversation it belongs to."""
    place: Label | None = None
    key: Label | None = None
    """What it is about, e.g. ``address of Ana``: of the observations of one key only the latest is held."""
    id: Id | None = None
    """Idempotency key: the same id with the same content is the same memory."""
    subject: Label | None = None
    predicate: Label | None = None
    object: Label | None = None
    keywords: tuple[Label, ...] = ()


class MemoryValue(Value):
    """What observations, reflections and plans share."""

    id: str
    agent_id: str
    text: str
    kind: Kind
    status: Status
    importance: int
    importance_by: ImportanceBy
    occurred_at: datetime
    recorded_at: datetime
    last_accessed_at: datetime
    imported_at: datetime | None = None
    """When it came here from elsewhere; None where it was made here."""
    ended_at: datetime | None = None
    embedding_model: str | None = None
    """None while the text could not be embedded."""
    embedding_truncated: bool = False
    """True when the text is longer than the embedding model reads, so that only its beginning is embedded."""
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    keywords: tuple[str, ...] = ()


class Observation(MemoryValue):
    """Something perceived or heard."""

    type: Literal["observation"] = "observation"
    source: str | None = None
    session: str | None = None
    place: str | None = None
    key: str | None = None
    depth: Literal[0] = 0


class Reflection(MemoryValue):
    """Something inferred from other memories."""

    type: Literal["reflection"] = "reflection"
    question: str | None = None
    covers: str | None = None
    """Of a summary: what it is kept of, e.g. ``self``, or ``day 2026-06-12``."""
    depth: int
    """1 + the depth of its deepest ground."""
    written_by: str
    """The language model that wrote it, e.g. ``extractive`` or ``litellm/gpt-4o``; or the program it comes from."""
    missing_grounds: int = 0
    """How many of its grounds could not be found where it was imported from; with any it is stale."""
    file_depth: int | None = None
    """Its depth by the file that it was imported from."""


class Plan(MemoryValue):
    """Something intended; never to be read as done unless its state says so."""

    type: Literal["plan"] = "plan"
    start: datetime
    """From when, and"""
    end: datetime
    """to when: as the clock of ``time_zone`` shows it, in UTC where that is None."""
    place: str | None = None
    state: PlanState
    reason: str = ""
    """Why it was done, missed or dropped."""
    finished_at: datetime | None = None
    """When that was said of it; None while it is planned or active."""
    day: date | None = None
    """The date that it was planned for; None where it was imported."""
    time_zone: str | None = None
    """The IANA zone in which it was planned; its start and end are told in it, and stored in UTC."""
    undivided: bool = False
    """Its parts were asked for and none could be used: it is carried out as it stands."""
    depth: Literal[0] = 0

    @property
    def grain(self) -> Kind:
        """How fine it is: ``day`` (a chunk of the day), ``hour`` or ``step``."""
        return self.kind

    @property
    def finished(self) -> bool:
        """Whether it is known what became of it."""
        return self.state in ("done", "missed", "dropped")


AnyMemory = Annotated[Observation | Reflection | Plan, Field(discriminator="type")]
