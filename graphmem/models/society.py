"""A simulation of several agents: what is simulated, each step of it, and what came of it."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Self

from pydantic import Field, model_validator

from graphmem.clock import UtcTime
from graphmem.models.memories import AnyMemory
from graphmem.models.places import NormKind, Place
from graphmem.models.values import Id, Label, Value


class Simulation(Value):
    """What is simulated: whom, from when on, in steps of how long, and how many of them."""

    name: Label
    """The same name goes on with the same simulation."""
    agents: tuple[Id, ...] = Field(min_length=1, max_length=1000)
    start: UtcTime
    minutes: int = Field(default=10, ge=1, le=24 * 60)
    """How long a step is."""
    steps: int = Field(ge=1, le=1_000_000)
    """How many there are to be, those that were simulated before included."""
    talk: bool = True
    reflect: bool = True

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.agents)) < len(self.agents):
            raise ValueError("an agent is named twice")
        return self

    def at(self, number: int) -> datetime:
        """When a step is, counted from 0; that after the last is the end."""
        return self.start + timedelta(minutes=self.minutes * number)

    @property
    def end(self) -> datetime:
        """When the last step is over."""
        return self.at(self.steps)


class Step(Value):
    """What an agent did in one step of a simulation."""

    agent_id: str
    number: int
    """From 0."""
    at: datetime
    place: str | None = None
    object: str | None = None
    doing: str | None = None
    plan_id: str | None = None
    conversation: str | None = None
    """The id of the conversation that it had."""
    with_: str | None = None
    """With which agent."""
    broken: tuple[NormKind, ...] = ()
    """Norms that it broke."""


class Rounds(Value):
    """How often an agent reflected on a day of its own."""

    agent_id: str
    day: date
    rounds: int


class Lived(Value):
    """What came of a simulation for one agent."""

    agent_id: str
    name: str
    steps: int
    moves: int
    conversations: int
    observations: int
    """New memories of each kind since the simulation began."""
    reflections: int
    plans: int
    done: int
    """Plans carried out, and"""
    missed: int
    dropped: int
    """superseded by another plan, or given up."""
    broken: dict[NormKind, int] = Field(default_factory=dict[NormKind, int])
    rounds: tuple[Rounds, ...] = ()


class SimulationReport(Value):
    """What came of a simulation so far."""

    simulation: Simulation
    done: int
    """Steps that were simulated, and"""
    before: int
    """how many of them by earlier calls."""
    people: tuple[Lived, ...]
    failures: tuple[str, ...] = ()
    """What the language model failed at in this call; the agents went on without."""

    @property
    def broken(self) -> dict[NormKind, int]:
        """How often each norm was broken."""
        return dict(sum((Counter(one.broken) for one in self.people), Counter[NormKind]()))


class Remembered(Value):
    """A memory of a replay, with what it rests on."""

    memory: AnyMemory
    grounds: tuple[str, ...] = ()
    """Ids of the same agent's memories that it cites or derives from."""
    heard_from: tuple[tuple[str, str], ...] = ()
    """Agent and id of what it heard."""


class Replay(Value):
    """A simulation as it was lived: who was where, and what each remembers of it."""

    report: SimulationReport
    names: dict[str, str]
    """Of the agents, by id."""
    time_zone: str
    """Of the world, in which times are told."""
    steps: tuple[Step, ...]
    """In order, by number and agent."""
    memories: tuple[Remembered, ...]
    """What the agents came to remember meanwhile, by when it happened, and what that rests on."""
    places: tuple[Place, ...] = ()
