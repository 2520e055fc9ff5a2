"""A person's memory from elsewhere, as ``import_memories`` takes it: everything has its id and time already."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from graphmem.clock import UtcTime
from graphmem.models.agents import AgentConfig
from graphmem.models.values import Id, Importance, Label, Text, Value


class ImportedItem(Value):
    """What observations, reflections and plans from elsewhere share."""

    id: Id
    text: Text
    occurred_at: UtcTime
    """When it happened, and when the agent came to hold it."""
    importance: Importance | None = None
    """1–10; rated by rule when not given."""
    subject: Label | None = None
    predicate: Label | None = None
    object: Label | None = None
    keywords: tuple[Label, ...] = ()
    file_rest: str | None = None
    """What the file says of it besides, for which there is no field here: JSON."""


class ImportedObservation(ImportedItem):
    """Something perceived, heard or told."""

    type: Literal["observation"] = "observation"
    kind: Literal["event", "utterance", "fact"] = "event"
    source: Label | None = None
    session: Label | None = None
    place: Label | None = None


class ImportedReflection(ImportedItem):
    """Something inferred."""

    type: Literal["reflection"] = "reflection"
    evidence: tuple[Id, ...] = ()
    """What it rests on, each an earlier item."""
    missing_grounds: tuple[str, ...] = ()
    """What it is said to rest on and cannot be found, as it was named; with any of these it is never served as true."""
    file_depth: int | None = None
    """Its depth by the file; ours is computed."""
    written_by: Label
    """The model that inferred it, or the program."""


class ImportedPlan(ImportedItem):
    """Something intended."""

    type: Literal["plan"] = "plan"
    kind: Literal["day", "hour", "step"]
    start: UtcTime
    end: UtcTime
    place: Label | None = None
    state: Literal["planned", "active", "done", "missed", "dropped"]
    parents: tuple[Id, ...] = ()
    """The plans that it is a part of, each an earlier item."""

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"plan {self.id!r} ends at {self.end}, not after it starts")
        return self


AnyImported = Annotated[ImportedObservation | ImportedReflection | ImportedPlan, Field(discriminator="type")]


class ImportedPlace(Value):
    """A place that the agent knows."""

    path: tuple[Label, ...] = Field(min_length=1)
    """From the world down to the place itself."""
    last_seen_at: UtcTime | None = None


class Heard(Value):
    """Something that an agent heard another say."""

    id: Id
    """The memory of it."""
    agent_id: Id
    """Who said it, and"""
    memory_id: Id
    """what that one remembers of it."""


class AgentImport(Value):
    """All that is imported of one person."""

    origin: Label
    """What it comes from, such as a hash of the files: an import that was cut off goes on with the same only."""
    config: AgentConfig
    importance_since_reflection: int = Field(default=0, ge=0)
    """The sum so far that triggers the next reflection, and"""
    observed_since_reflection: int = Field(default=0, ge=0)
    """of how many memories it is the sum."""
    file_rest: str | None = None
    """What the files say of the person besides: JSON."""
    home: Label | None = None
    """Where it lives, and"""
    place: Label | None = None
    """where it is: rooms that it knows, by their paths."""
    memories: tuple[AnyImported, ...] = ()
    """In an order in which what each rests on comes before it."""
    places: tuple[ImportedPlace, ...] = ()
    heard: tuple[Heard, ...] = ()
    """Joined with the other's memory where that is there; where it is not yet, importing again joins it."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        rooms = {":".join(place.path) for place in self.places}
        if strange := [place for place in (self.home, self.place) if place is not None and place not in rooms]:
            raise ValueError(f"{strange[0]!r} is none of the places that it knows")
        seen: set[str] = set()
        for item in self.memories:
            grounds = grounds_of(item)
            if unknown := [ground for ground in grounds if ground not in seen]:
                raise ValueError(f"{item.id!r} rests on {unknown[0]!r}, which does not come before it")
            if len(set(grounds)) < len(grounds):
                raise ValueError(f"{item.id!r} names a ground twice")
            if item.id in seen:
                raise ValueError(f"the id {item.id!r} is given twice")
            seen.add(item.id)
        return self


def grounds_of(item: ImportedItem) -> Sequence[str]:
    """The ids of what an item rests on."""
    if isinstance(item, ImportedReflection):
        return item.evidence
    return item.parents if isinstance(item, ImportedPlan) else ()


class Imported(Value):
    """What ``import_memories`` did."""

    added: int
    known: int
    """Memories that an earlier import had stored."""
    citations: int
    """CITES written by this call."""
    heard: int = 0
    """How much of what it heard is joined with the memory of who said it."""
    not_embedded: tuple[str, ...] = ()
    """Stored, but without a vector: the embedder failed on these texts."""
    clock: datetime | None
    """The agent's time."""
