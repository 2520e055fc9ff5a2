"""Retrieval: weights and profiles that go in, scored hits that come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, overload

from pydantic import Field, model_validator

from graphmem.models.memories import AnyMemory
from graphmem.models.values import Kind, Label, Value

MAX_WEIGHT = 1e6
"""Largest weight: with larger ones rounding decides the order, and sums may overflow."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, le=MAX_WEIGHT, allow_inf_nan=False)]


class Weights(Value):
    """How much each part counts in the score; each from 0 to a million, not all 0."""

    relevance: Weight = 1.0
    recency: Weight = 1.0
    importance: Weight = 1.0
    support: Weight = 0.0
    """How far its grounds support it, in [0, 1]; 1 for what was not inferred or not measured. Not of the paper."""

    @model_validator(mode="after")
    def _not_all_zero(self) -> Weights:
        if self.relevance + self.recency + self.importance + self.support == 0:
            raise ValueError("at least one weight must be above 0")
        return self


class Neighbours(Value):
    """How much the turns around it in the same session lend a memory of their own relevance.

    A question is told by the turn before, what "it" means by the turn before that: neighbours say what a turn is about.
    """

    before: tuple[Share, ...] = Field(default=(0.7, 0.4), max_length=5)
    """Shares that the turn before lends, the one before that, …, in [0, 1]."""
    after: tuple[Share, ...] = Field(default=(0.3, 0.1), max_length=5)
    """Shares that the next turn lends, the one after that, …, in [0, 1]."""
    vectors: Share = 0.15
    """What of those shares holds for the vectors' part, which knows the wider meaning by itself."""


class Blend(Value):
    """What relevance is made of where it is more than the cosine; weights are relative to their sum.

    Formulas: :func:`graphmem.scoring.blend`.
    """

    vector: Weight = 0.5
    """Cosine of the embeddings, min–max over the candidates."""
    text: Weight = 0.5
    """BM25 of the query's words in text and date, by the highest among the candidates."""
    speaker: Weight = 0.1
    """Whether the query names who said it."""
    date: Weight = 2.0
    """How much a word of the query that matches the date counts within ``text``, a word of the text counting 1."""
    vector_floor: float = Field(default=0.1, ge=0, le=2)
    """Least spread of the cosines that min–max scales by: of a few memories that are all as near, none is far."""
    neighbours: Neighbours = Neighbours()

    @model_validator(mode="after")
    def _not_all_zero(self) -> Blend:
        if self.vector + self.text + self.speaker == 0:
            raise ValueError("at least one of vector, text and speaker must be above 0")
        return self

    def shares(self) -> tuple[float, float, float]:
        """Vector, text and speaker, scaled to sum up to 1."""
        total = self.vector + self.text + self.speaker
        return self.vector / total, self.text / total, self.speaker / total


class Profile(Value):
    """Named weights and signals for retrieval."""

    name: str
    weights: Weights = Weights()
    normalise: Literal["minmax", "none"] = "minmax"
    decay: float = Field(default=0.995, gt=0, lt=1)
    """Recency lost per hour: recency = decay ** hours since the last access (Park et al. 2023: 0.995)."""
    recency_floor: float = Field(default=0, ge=0, allow_inf_nan=False)
    """Least spread of the ages, in hours, that min–max scales recency by. 0 is the paper's rule, by which seconds count
    like a lifetime where all memories are seconds old."""
    blend: Blend | None = None
    """What relevance is made of; None: the cosine alone, which can be answered exactly."""

    diversity: Share = 0
    """Share of novelty in choosing the next hit (maximal marginal relevance, Carbonell and Goldstein 1998): by
    (1 − diversity) × score − diversity × the highest cosine with those chosen. 0: by score alone."""

    @classmethod
    def half_life(cls, hours: float, **fields: Any) -> Profile:
        """A profile whose recency halves every so many hours.

        Raises:
            ValueError: When the hours are not above 0, or another field is refused.
        """
        if not hours > 0:
            raise ValueError(f"hours: {hours!r} is not above 0")
        return cls(decay=0.5 ** (1 / hours), **fields)


class Filters(Value):
    """What a hit must fulfil; None: anything. Filters choose among memories and change no score of ``paper``."""

    kinds: tuple[Kind, ...] | None = None
    since: datetime | None = None
    """Happened at this time or later."""
    until: datetime | None = None
    """Happened before this time."""
    place: Label | None = None
    source: Label | None = None

    def __bool__(self) -> bool:
        """Whether anything is filtered."""
        return any(value is not None for value in (self.kinds, self.since, self.until, self.place, self.source))


PAPER = Profile(name="paper")
"""Equal weights, min–max normalised over the agent's active memories: Park et al. 2023, section 4.1."""


RECALL = Profile(
    name="recall", weights=Weights(relevance=1, recency=0.02, importance=0), recency_floor=24, blend=Blend()
)
"""For questions over long histories: vectors, words, speaker, date and neighbouring turns; little recency."""

PROFILES = {profile.name: profile for profile in (PAPER, RECALL)}
"""The built-in profiles by name."""


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


class Signals(Value):
    """What a blended relevance is made of; the contributions of the three add up to its ``normalised``."""

    vector: Part
    """Raw: cosine in [-1, 1]. Normalised: with what the neighbours lend."""
    text: Part
    """Raw: BM25 of the query's words and date, with what the neighbours lend, ≥ 0."""
    speaker: Part
    """1 when the query names who said it, else 0."""


class Hit(Value):
    """One retrieved memory with every part of its score."""

    memory: AnyMemory
    score: float
    relevance: Part
    recency: Part
    importance: Part
    support: Part | None = None
    """How far its grounds support it; None where that has no weight."""
    signals: Signals | None = None
    """What relevance was blended from; None where it is the cosine alone."""
    evidence: tuple[AnyMemory, ...] = ()
    """The first grounds of a reflection, where ``evidence`` was asked for."""
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
    left_out: tuple[str, ...] = ()
    """Ids of those among the ``k`` best that the token budget had no room for, best first."""
    tokens: int | None = None
    """Estimated tokens of the hits and their evidence; None without a budget."""
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
