"""What every node and relationship of an agent must look like to be read back: an export is held against it.

docs/graph-model.md says what the properties mean. Whatever is not named here is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from graphmem.clock import TimeZone, as_date
from graphmem.errors import InvalidInput
from graphmem.graph.records import refused_from
from graphmem.graph.store import Row
from graphmem.models import MAX_TEXT
from graphmem.models.memories import PlanState
from graphmem.models.places import PlaceKind, open_at
from graphmem.models.values import MAX_ID, ImportanceBy, Mode, Status

_MAX_PATH = 4 * MAX_ID + 3
"""Longest path of a place: the names of its levels, with a colon between them."""
_MAX_INDEXED = 5_000
"""Most bytes of a text in an index: beside an agent's id it leaves room in the 8 kB that an entry has."""
_MAX_COUNT = 2**53
"""No count comes near it, and none that begins there runs over."""


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty or blank")
    return value


def _indexable(value: str) -> str:
    if len(value.encode()) > _MAX_INDEXED:
        raise ValueError(f"is over {_MAX_INDEXED:,} bytes long")
    return value


def _spans(value: list[str]) -> list[str]:
    for span in value:
        open_at((span,), datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC"))
    return value


def _day(value: str) -> str:
    try:
        return as_date(value).isoformat()
    except InvalidInput as error:
        raise ValueError(str(error)) from error


def _object(value: str) -> str:
    if not isinstance(json.loads(value), dict):
        raise ValueError("is not a JSON object")
    return value


def _refused(value: list[str]) -> list[str]:
    try:
        refused_from(value)
    except ValidationError as error:
        raise ValueError("is not what was refused, with gate, reason and item") from error
    return value


Id = Annotated[str, Field(max_length=MAX_ID), AfterValidator(_not_blank)]
Short = Annotated[str, Field(max_length=MAX_ID)]
Path = Annotated[str, Field(max_length=_MAX_PATH), AfterValidator(_not_blank), AfterValidator(_indexable)]
Count = Annotated[int, Field(ge=0, le=_MAX_COUNT)]
Whole = Annotated[int, Field(ge=-_MAX_COUNT, le=_MAX_COUNT)]
Attempts = Annotated[int, Field(ge=0, le=30)]
"""Each doubles the wait for the next."""
Importance = Annotated[int, Field(ge=1, le=10)]
Number = Annotated[float, Field(allow_inf_nan=False)]
JsonObject = Annotated[str, AfterValidator(_object)]


class Shape(BaseModel):
    """The properties of a node or relationship, by their names in the graph."""

    model_config = ConfigDict(strict=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True)


# --- nodes ------------------------------------------------------------------------------------------------------


class AgentShape(Shape):
    """An agent; what is missing is as it is of a new one."""

    id: Id
    name: Id | None = None
    traits: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    time_zone: TimeZone = "UTC"
    clock: datetime | None = None
    revision: Count = 0
    held: Count = 0
    reflection_threshold: Annotated[int, Field(ge=1, le=1_000_000_000)] = 150
    reflection_every: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    importance_since_reflection: Whole = 0
    observed_since_reflection: Whole = 0
    observed: Count = 0
    importance_observed: Count = 0
    open_reflection: Id | None = None
    reflected_up_to: datetime | None = None
    learned_up_to: datetime | None = None
    home: Path | None = None
    place: Path | None = None
    place_since: datetime | None = None
    object: Path | None = None
    doing: str | None = None
    doing_since: datetime | None = None
    acting_on: Id | None = None
    created_at: datetime | None = None
    work_token: str | None = None
    work_until: datetime | None = None
    imported_at: datetime | None = None
    imported_from: str | None = None
    file_rest: JsonObject | None = None
    loaded_from: str | None = None
    loaded_at: datetime | None = None
    loading_line: Count | None = None


class _MemoryShape(Shape):
    id: Id
    text: Annotated[str, Field(max_length=MAX_TEXT)]
    status: Status
    held: bool
    importance: Importance
    importance_by: ImportanceBy
    rating_due: bool | None = None
    reappraised_at: datetime | None = None
    occurred_at: datetime
    recorded_at: datetime
    imported_at: datetime | None = None
    last_accessed_at: datetime
    ended_at: datetime | None = None
    ended_by: Short | None = None
    forgotten_at: datetime | None = None
    embedding_model: Short | None = None
    embedding_truncated: bool | None = None
    not_embedded: bool | None = None
    embedding_attempts: Attempts | None = None
    next_embedding_at: datetime | None = None
    text_hash: Short | None = None
    content_hash: Short | None = None
    date_text: Short | None = None
    subject: Id | None = None
    predicate: Id | None = None
    object: Id | None = None
    keywords: list[Id] | None = None
    key: Id | None = None
    key_rank: Id | None = None
    file_rest: JsonObject | None = None
    lease_token: str | None = None
    lease_until: datetime | None = None


class ObservationShape(_MemoryShape):
    """Something perceived or heard."""

    kind: Literal["event", "utterance", "fact"]
    depth: Literal[0]
    source: Id | None = None
    session: Id | None = None
    place: Path | None = None


class ReflectionShape(_MemoryShape):
    """Something inferred."""

    kind: Literal["insight", "summary", "procedure"]
    depth: Annotated[int, Field(ge=0, le=10**9)]
    question: str | None = None
    covers: Short | None = None
    traits_hash: Short | None = None
    written_by: str
    file_depth: Whole | None = None
    missing_grounds: Count | None = None
    missing_ground_ids: list[str] | None = None
    attempts: Attempts | None = None
    last_error: str | None = None
    next_attempt_at: datetime | None = None


class PlanShape(_MemoryShape):
    """Something intended."""

    kind: Literal["day", "hour", "step"]
    depth: Literal[0]
    start: datetime
    end: datetime
    place: Path | None = None
    state: PlanState
    reason: str | None = None
    finished_at: datetime | None = None
    day: Annotated[str, AfterValidator(_day)] | None = None
    time_zone: TimeZone | None = None
    undivided: bool | None = None
    missing_grounds: Count | None = None
    missing_ground_ids: list[str] | None = None
    attempts: Attempts | None = None
    last_error: str | None = None
    next_attempt_at: datetime | None = None


class RunShape(Shape):
    """Something asked of a language model."""

    id: Id
    verb: str
    model: str
    prompt_version: str
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cost: Number | None = None
    claimed: Whole | None = None
    claimed_observations: Whole | None = None
    started_at: datetime
    ended_at: datetime | None = None
    lease_until: datetime | None = None
    outcome: str
    error: str | None = None
    refused: Annotated[list[str], AfterValidator(_refused)] | None = None
    question: str | None = None
    answer: str | None = None
    as_of: datetime | None = None


class ChangeShape(Shape):
    """A change of belief."""

    seq: Count
    ordinal: Count
    verb: str
    at: datetime
    by: str
    reason: str
    run_id: Id | None = None
    importance_before: Importance | None = None
    importance_after: Importance | None = None


class PlaceShape(Shape):
    """A place that an agent knows."""

    path: Path
    name: Id
    kind: PlaceKind | None = None
    capacity: Count | None = None
    hours: Annotated[list[str], AfterValidator(_spans)] | None = None
    staff: list[str] | None = None
    uses: list[str] | None = None
    state: str | None = None
    rest: str | None = None
    state_since: datetime | None = None
    state_by: str | None = None
    time_zone: TimeZone | None = None
    last_seen_at: datetime | None = None


NODES: Mapping[str, type[Shape]] = {
    "agent": AgentShape,
    "Observation": ObservationShape,
    "Reflection": ReflectionShape,
    "Plan": PlanShape,
    "run": RunShape,
    "change": ChangeShape,
    "place": PlaceShape,
}
"""By label for memories, else by kind."""


# --- relationships ----------------------------------------------------------------------------------------------


class _PlainShape(Shape):
    """Without properties."""


class _RankedShape(Shape):
    rank: Whole | None = None


class _UsedShape(Shape):
    rank: Whole
    score: Number | None = None


class _CitesShape(Shape):
    rank: Whole | None = None
    support: Number | None = None
    since: datetime
    until: datetime | None = None
    past: bool | None = None
    moved_to: Id | None = None


class _DerivedShape(_CitesShape):
    part: bool | None = None


class _SupersedesShape(Shape):
    at: datetime
    mode: Mode
    reason: str
    by: str
    made: bool | None = None
    revoked_at: datetime | None = None


class _CauseShape(Shape):
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True)
class Edge:
    """A type of relationship: its properties, and between which nodes it may be."""

    shape: type[Shape]
    starts: frozenset[str]
    ends: frozenset[str]


_MEMORIES = frozenset({"Observation", "Reflection", "Plan"})
EDGES: Mapping[str, Edge] = {
    "CITES": Edge(_CitesShape, frozenset({"Reflection"}), _MEMORIES),
    "DERIVED_FROM": Edge(_DerivedShape, frozenset({"Plan"}), _MEMORIES),
    "SUPERSEDES": Edge(_SupersedesShape, _MEMORIES, _MEMORIES),
    "STALE_BECAUSE": Edge(_CauseShape, _MEMORIES - {"Observation"}, _MEMORIES),
    "TELLS": Edge(_RankedShape, frozenset({"Observation"}), _MEMORIES),
    "HEARD_FROM": Edge(_PlainShape, frozenset({"Observation"}), _MEMORIES),
    "PRODUCED_BY": Edge(_PlainShape, _MEMORIES, frozenset({"run"})),
    "USED": Edge(_UsedShape, frozenset({"run"}), _MEMORIES),
    "OF": Edge(_PlainShape, frozenset({"change"}), _MEMORIES),
    "IN": Edge(_PlainShape, frozenset({"place"}), frozenset({"place"})),
}


def problem(shape: type[Shape], properties: Row) -> str | None:
    """What is wrong with these properties, the first of them by name; None: nothing."""
    try:
        shape.model_validate(properties)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg'].removeprefix('Value error, ')}"
    return None
