"""Agents: what can be set on one, how much it remembers, and what breaks an invariant."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field, model_validator

from graphmem.clock import TimeZone, UtcTime
from graphmem.models.values import Kind, Label, Status, Text, Value


class AgentInfo(Value):
    """An agent and how much it remembers."""

    id: str
    name: str
    revision: int
    clock: datetime | None = None
    time_zone: str = "UTC"
    reflection_threshold: int = 150
    """The sum of importance at which a reflection is due."""
    reflection_every: int | None = None
    """Where the threshold is told in observations of the agent's own mean importance: how many."""
    importance_since_reflection: int = 0
    observations: int = 0
    reflections: int = 0
    plans: int = 0
    stale: int = 0
    archived: int = 0
    """Put away by a retention policy; not among those above."""
    ended: int = 0
    not_embedded: int = 0


class StoreInfo(Value):
    """A store: where it is, on which server, what it was made for, and how much it holds."""

    uri: str
    database: str
    server: str
    """Version of the Neo4j, e.g. ``2026.09.0``."""
    edition: str
    """``community`` or ``enterprise``."""
    schema_version: int | None = None
    """None, and so are the next three, where graphmem has never made its schema."""
    embedding_model: str | None = None
    dimension: int | None = None
    analyzer: str | None = None
    moving_to: str | None = None
    """The embedding model that the store is being moved to, and"""
    switching: bool = False
    """whether that has come so far that it cannot be opened until it is done."""
    agents: int = 0
    memories: int = 0
    """Held by all agents: active or stale."""


class Counted(Value):
    """How many memories are of a kind and have a status."""

    kind: Kind
    status: Status
    memories: int


class IndexState(Value):
    """An index of the schema."""

    name: str
    state: str
    """``ONLINE``, ``POPULATING`` or ``FAILED``; ``MISSING`` where it is not there."""
    percent: float = 0.0
    """How much of it is made, in [0, 100]."""


class Backlog(Value):
    """An agent's stale memories that wait for their recompute."""

    agent_id: str
    since: datetime | None = None
    """When the one that waits longest turned stale; None where it was stale when it was imported."""
    failing: int = 0
    """Memories whose recompute has failed at least once."""


class StoreStatus(Value):
    """How a store is: what it was made for, its agents, what waits, its indexes, and what thinking has cost."""

    info: StoreInfo
    agents: tuple[AgentInfo, ...] = ()
    counts: tuple[Counted, ...] = ()
    """Of all agents together."""
    backlog: tuple[Backlog, ...] = ()
    """Agents with stale memories."""
    indexes: tuple[IndexState, ...] = ()
    runs: int = 0
    """Runs of a language model, of all agents together."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""

    @property
    def due(self) -> tuple[AgentInfo, ...]:
        """Agents whose importance since the last reflection has reached the threshold."""
        return tuple(a for a in self.agents if a.importance_since_reflection >= a.reflection_threshold)


class AgentConfig(Value):
    """What can be set on an agent."""

    name: Label | None = None
    traits: Text | None = None
    time_zone: TimeZone | None = None
    clock: UtcTime | None = None
    reflection_threshold: int | None = Field(default=None, ge=1, le=1_000_000_000)
    reflection_every: int | None = Field(default=None, ge=1, le=100_000_000)

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if self.reflection_threshold is not None and self.reflection_every is not None:
            raise ValueError("give reflection_threshold or reflection_every, not both")
        return self


class Violation(Value):
    """Something in the graph that breaks an invariant."""

    rule: str
    """The check that found it: a file under ``cypher/check/``."""
    agent_id: str
    id: str
    """The memory, or the agent itself."""
    problem: str
    remedy: str
    """What to do about it, in one line."""
