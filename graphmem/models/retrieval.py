"""Retrieval: weights and profiles that go in, scored hits that come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, overload

from pydantic import Field, model_validator

from graphmem.models.memories import AnyMemory
from graphmem.models.values import Value


class Weights(Value):
    """How much each part counts in the score; each ≥ 0, not all 0."""

    relevance: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    recency: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    importance: float = Field(default=1.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _not_all_zero(self) -> Weights:
        if self.relevance + self.recency + self.importance == 0:
            raise ValueError("at least one weight must be above 0")
        return self


class Profile(Value):
    """Named weights and signals for retrieval."""

    name: str
    weights: Weights = Weights()
    normalise: Literal["minmax", "none"] = "minmax"
    decay: float = Field(default=0.995, gt=0, lt=1)
    """Recency lost per hour: recency = decay ** hours since the last access (Park et al. 2023: 0.995)."""


PAPER = Profile(name="paper")
"""Equal weights, min–max normalised over the agent's active memories: Park et al. 2023, section 4.1."""


class Part(Value):
    """One part of a score: ``raw`` as measured, ``normalised`` to [0, 1], ``weight`` as given."""

    raw: float | None
    """Relevance: cosine in [-1, 1]; recency in [0, 1]; importance / 10. None: the memory is not embedded."""
    normalised: float
    weight: float

    @property
    def contribution(self) -> float:
        """What this part adds to the score."""
        return self.weight * self.normalised


class Hit(Value):
    """One retrieved memory with every part of its score."""

    memory: AnyMemory
    score: float
    relevance: Part
    recency: Part
    importance: Part
    occurrences: int = 1
    """How many memories of the same type, source and text this hit stands for."""


class Hits(Value, Sequence[Hit]):  # pyright: ignore[reportIncompatibleMethodOverride]
    """What a retrieval found, best first."""

    hits: tuple[Hit, ...]
    query: str
    profile: Profile
    now: datetime
    as_of: datetime | None = None
    """The moment whose beliefs these are; None: today's."""
    exact: bool | None = True
    """Whether this is the answer of scoring every memory, up to equal scores; None where that has no meaning."""
    considered: int
    """How many memories the agent holds, stale ones included."""
    withheld_stale: int = 0
    """How many stale memories would have been among the hits if they were active."""
    not_embedded: int = 0
    """How many active memories have no vector yet and so count as relevance 0."""

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return iter(self.hits)
