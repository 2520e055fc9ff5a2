"""Who knows what, and from whom."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from graphmem.models.memories import Plan
from graphmem.models.values import Value

Stage = Literal["unaware", "heard", "willing", "planned", "attended"]
"""How far somebody came: knowing of something, wanting it and having it in the plan are different conditions."""
STAGES: tuple[Stage, ...] = ("unaware", "heard", "willing", "planned", "attended")


class Step(Value):
    """One memory on the way of a fact."""

    agent_id: str
    id: str
    text: str
    at: datetime


class Claim(Value):
    """An utterance about the fact."""

    agent_id: str
    """Who said it."""
    id: str
    text: str
    sourced: bool
    """Whether the graph leads from it back to the origin; else it counts as hallucinated."""


class Knowing(Value):
    """How far one agent came, and from whom it has it."""

    agent_id: str
    name: str
    stage: Stage
    origin: bool = False
    """It began here: nobody told this agent."""
    heard_from: str | None = None
    """Id of the agent who told it first."""
    heard_at: datetime | None = None
    way: tuple[Step, ...] = ()
    """From the utterance that it heard first back to the origin."""
    willing: Step | None = None
    """What shows that it wants to, or that it does not."""
    plan: Plan | None = None
    attended: Step | None = None
    """What shows that it was there; None where the plan's state says so."""
    reason: str = ""
    """Why it came no further."""


class Density(Value):
    """How many pairs of agents know of each other: 2E / (N (N - 1))."""

    agents: int
    pairs: int
    """E: each holds a memory that names the other."""

    @property
    def value(self) -> float:
        """In [0, 1]; 0 for fewer than two agents."""
        return 2 * self.pairs / (self.agents * (self.agents - 1)) if self.agents > 1 else 0.0


class Diffusion(Value):
    """How far a fact came."""

    fact: str
    """The text that it is known by."""
    origins: tuple[Step, ...]
    """Where it began."""
    agents: tuple[Knowing, ...]
    """Every agent that was looked at, those who know first, in the order in which they heard."""
    claims: tuple[Claim, ...] = ()
    """Every utterance about it, by who said it."""
    before: Density
    """When it began, and"""
    after: Density
    """now."""

    def reached(self, stage: Stage) -> tuple[Knowing, ...]:
        """The agents that came at least so far."""
        return tuple(one for one in self.agents if STAGES.index(one.stage) >= STAGES.index(stage))

    @property
    def hallucinated(self) -> tuple[Claim, ...]:
        """Claims without a source in the graph."""
        return tuple(claim for claim in self.claims if not claim.sourced)
