"""The values that go in and come out: frozen, in snake_case, all times aware and in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, overload

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from graphmem.clock import UtcTime
from graphmem.errors import InvalidInput, InvalidText, InvalidTime

MAX_TEXT = 100_000
"""Longest text of a memory, in characters."""
MAX_ID = 512
"""Longest id or key, in characters: both are indexed, and Neo4j refuses index entries over about 8 kB."""
MAX_K = 10_000
"""Most memories that one retrieval returns; a larger ``k`` is refused."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: str) -> str:
    """Refuse what Neo4j cannot give back unchanged: NUL and lone surrogates."""
    if found := _UNSTORABLE.search(value):
        raise ValueError(f"holds the character U+{ord(found[0]):04X}, which cannot be stored")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty or blank")
    return value


def _plain_integer(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")
    if isinstance(value, float) and not value.is_integer():
        raise ValueError("is not a whole number")
    return int(value)


Text = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_TEXT),
    AfterValidator(_not_blank),
    AfterValidator(storable),
]
Id = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_ID),
    AfterValidator(_not_blank),
    AfterValidator(storable),
]
Label = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_ID),
    AfterValidator(_not_blank),
    AfterValidator(storable),
]
"""A short name: source, session, place, subject, keyword."""
Importance = Annotated[int, BeforeValidator(_plain_integer), Field(ge=1, le=10)]
"""1 is mundane, 10 poignant (Park et al. 2023, section 4.1)."""

Status = Literal["active", "stale", "archived", "superseded", "retracted", "forgotten"]
ImportanceBy = Literal["caller", "model", "rule", "default"]
Kind = Literal["event", "utterance", "fact", "insight", "summary", "procedure", "day", "hour", "step"]
Mode = Literal["correction", "update"]


class Value(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=BaseModel)


def validated(model: type[V], data: Mapping[str, Any]) -> V:
    """Build a value from what a caller gave.

    Raises:
        InvalidText: When the text is refused.
        InvalidTime: When a time is refused.
        InvalidInput: When anything else is; the message names the field.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or model.__name__
        message = f"{field}: {first['msg'].removeprefix('Value error, ')}"
        kind = InvalidInput
        if field == "text":
            kind = InvalidText
        elif field in {"occurred_at", "now", "as_of"}:
            kind = InvalidTime
        raise kind(message) from error


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
    depth: Literal[0] = 0


class Reflection(MemoryValue):
    """Something inferred from other memories."""

    type: Literal["reflection"] = "reflection"
    question: str | None = None
    depth: int
    """1 + the depth of its deepest ground."""
    written_by: str
    """The language model that wrote it, e.g. ``extractive`` or ``litellm/gpt-4o``."""


class Plan(MemoryValue):
    """Something intended; never to be read as done unless its state says so."""

    type: Literal["plan"] = "plan"
    start: datetime
    end: datetime
    place: str | None = None
    state: Literal["planned", "active", "done", "missed", "dropped"]
    depth: Literal[0] = 0


AnyMemory = Annotated[Observation | Reflection | Plan, Field(discriminator="type")]


# --- retrieval -------------------------------------------------------------------------------------------------


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


# --- reports ---------------------------------------------------------------------------------------------------


class Observed(Value):
    """What ``observe_many`` did."""

    ids: tuple[str, ...]
    """The id of each item, in the order given."""
    added: int
    known: int
    """Items that were stored before with the same content."""
    not_embedded: tuple[str, ...] = ()
    """Stored, but without a vector: the embedder failed on these texts."""


class Refused(Value):
    """Something a language model wrote that did not become memory."""

    gate: Literal["parse", "shape", "index", "support", "write"]
    reason: str
    item: str
    """What it wrote, shortened."""


ReflectOutcome = Literal["reflected", "no_insight", "not_due", "nothing_to_reflect_on", "busy"]


class ReflectReport(Value):
    """What ``reflect`` did."""

    outcome: ReflectOutcome
    run_id: str | None = None
    questions: tuple[str, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    reinforced: tuple[str, ...] = ()
    """Reflections that already said the same and gained evidence."""
    refused: tuple[Refused, ...] = ()
    importance_since_reflection: int = 0
    """The sum so far, and"""
    threshold: int = 0
    """the sum at which the next reflection is due."""


class RunRef(Value):
    """A run of a language model, by name."""

    id: str
    verb: str
    at: datetime


class ChangeReport(Value):
    """What ``supersede``, ``retract`` or ``restore`` did, dependents included."""

    verb: Literal["supersede", "retract", "restore"]
    memory: AnyMemory
    """The memory whose belief ended, or is held again."""
    replacement: AnyMemory | None = None
    """What replaced it, or had replaced it."""
    stale: tuple[AnyMemory, ...] = ()
    """Everything above it that turned stale in the same transaction, shallowest first."""
    active: tuple[AnyMemory, ...] = ()
    """What had been stale and turned active again."""
    restored: tuple[AnyMemory, ...] = ()
    """Reflections that recompute had revised or retracted, and that hold again as their old grounds do."""
    used_by: tuple[RunRef, ...] = ()
    """Runs whose prompt had shown the memory."""
    revision: int


RecomputeOutcome = Literal["confirmed", "revised", "retracted", "failed"]


class Recomputed(Value):
    """What became of one stale memory."""

    id: str
    outcome: RecomputeOutcome
    before: str
    after: str | None = None
    """The text that holds now; None when retracted or failed."""
    new_id: str | None = None
    """The memory that replaced it, when revised."""
    reason: str = ""


class RecomputeReport(Value):
    """What ``recompute`` did."""

    items: tuple[Recomputed, ...] = ()
    remaining: int = 0
    """Memories that are still stale: failed, waiting for one that failed, beyond the limit, or"""
    elsewhere: int = 0
    """leased by another worker; the lease of one that died ends after five minutes."""

    def count(self, outcome: RecomputeOutcome) -> int:
        """How many ended so."""
        return sum(item.outcome == outcome for item in self.items)


class Failure(Value):
    """What stopped the work for one agent."""

    agent_id: str
    error: str
    remedy: str = ""


class WorkReport(Value):
    """What one round of background work did."""

    agents: int = 0
    """Agents that were worked for."""
    embedded: int = 0
    rated: int = 0
    reflections: int = 0
    recomputed: int = 0
    failures: tuple[Failure, ...] = ()
    pending: tuple[str, ...] = ()
    """Agents for whom something is still to do: it failed, waits for its next attempt, or another worker is at it."""


class RunInfo(Value):
    """One run: what was asked, of which model, and how it ended."""

    id: str
    verb: str
    outcome: str
    model: str
    prompt_version: str
    started_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    """What it failed with."""
    refused: tuple[Refused, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars, by the language model's price list; None where the model's price is not known."""


# --- provenance ------------------------------------------------------------------------------------------------


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
    roots: tuple[str, ...]
    """Where to start reading: the memory asked for, or every reflection that nothing rests on."""
    memories: dict[str, AnyMemory]
    grounds: tuple[Ground, ...]
    """In the order of rank for each memory; ended ones included."""
    supersessions: tuple[Supersession, ...] = ()
    causes: tuple[Cause, ...] = ()
    runs: dict[str, RunInfo] = {}
    """The run that produced a memory, by the memory's id."""

    def grounds_of(self, memory_id: str, *, ended: bool = False) -> tuple[Ground, ...]:
        """The edges to what this memory rests on now; with ``ended`` also those of the past."""
        return tuple(
            ground for ground in self.grounds if ground.source == memory_id and (ended or ground.until is None)
        )


# --- history ---------------------------------------------------------------------------------------------------

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
    "changed",
]
"""What happened to a memory: it was observed, inferred or planned; gained evidence; turned stale, or active again
because what it rests on holds; was confirmed as it stands; was superseded, or took another's place; was retracted, or
restored; gave way again to what it had replaced; or changed in a way that the verb tells."""


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
    seq: int | None = None
    """The agent's revision in which it happened, where one is known."""
    run_id: str | None = None
    """The run of a language model that wrote the memory."""


class Shown(Value):
    """A memory that a run's prompts showed."""

    memory: AnyMemory
    rank: int
    """Its number in the prompt that first showed it, from 1."""
    score: float | None = None
    """Its score where it was retrieved for the prompt."""


class RunDetails(Value):
    """One run with the memories that its prompts showed and those that it wrote."""

    run: RunInfo
    shown: tuple[Shown, ...] = ()
    wrote: tuple[AnyMemory, ...] = ()


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


class AgentInfo(Value):
    """An agent and how much it remembers."""

    id: str
    name: str
    revision: int
    clock: datetime | None = None
    time_zone: str = "UTC"
    reflection_threshold: int = 150
    importance_since_reflection: int = 0
    observations: int = 0
    reflections: int = 0
    plans: int = 0
    stale: int = 0
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
    agents: int = 0
    memories: int = 0
    """Held by all agents: active or stale."""


class AgentConfig(Value):
    """What can be set on an agent."""

    name: Label | None = None
    traits: Text | None = None
    time_zone: str | None = None
    clock: UtcTime | None = None
    reflection_threshold: int | None = Field(default=None, ge=1, le=1_000_000_000)

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str | None) -> str | None:
        if value is not None:
            from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise ValueError(f"{value!r} is not an IANA time zone") from error
        return value
