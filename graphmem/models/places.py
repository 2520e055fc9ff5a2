"""Places: the world as it is, the part of it that an agent knows, and what being somewhere reports."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from graphmem.clock import TimeZone, UtcTime
from graphmem.models.memories import Observation
from graphmem.models.values import Id, Label, Value

PlaceKind = Literal["world", "sector", "arena", "object"]
"""The levels of the tree, from the top: a town, a house in it, a room of the house, a thing in the room."""
LEVELS: tuple[PlaceKind, ...] = ("world", "sector", "arena", "object")
REST = "idle"
"""The state of an object that nobody uses, unless the world says otherwise."""
_A = {"world": "the world", "sector": "a house", "arena": "a room", "object": "a thing in a room"}
_HOURS = re.compile(r"(?:([a-z]{3})(?:-([a-z]{3}))?\s+)?(\d{2}):(\d{2})-(\d{2}):(\d{2})", re.IGNORECASE)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def kind_of(path: str) -> PlaceKind:
    """Which level of the tree a path is on, by its parts."""
    return LEVELS[min(path.count(":"), len(LEVELS) - 1)]


def parent_of(path: str) -> str | None:
    """The place around a place; None around the world."""
    return path.rpartition(":")[0] or None


def is_in(path: str | None, place: str) -> bool:
    """Whether a path is a place itself or something in it."""
    return path is not None and (path == place or path.startswith(f"{place}:"))


def open_at(hours: tuple[str, ...], moment: datetime, zone: ZoneInfo) -> bool:
    """Whether a place with these opening hours is open; one without any always is.

    Args:
        hours: Such as ``08:00-18:00``, ``Mon-Sat 08:00-12:00`` or ``Fri 18:00-02:00``, which ends on the next morning.
        moment: Aware.
        zone: Of the place's clock.
    """
    if not hours:
        return True
    local = moment.astimezone(zone)
    clock = local.hour * 60 + local.minute
    for span in hours:
        first, last, start, end = _read(span)
        if start < end:
            if _on(local.weekday(), first, last) and start <= clock < end:
                return True
        elif (_on(local.weekday(), first, last) and clock >= start) or (
            _on((local.weekday() - 1) % 7, first, last) and clock < end
        ):
            return True
    return False


def _read(span: str) -> tuple[int, int, int, int]:
    """From which weekday to which, and from which minute of the day to which."""
    match = _HOURS.fullmatch(span.strip())
    if match is None:
        raise ValueError(f"{span!r} are no opening hours such as 'Mon-Sat 08:00-18:00'")
    first, last = (_day(name) for name in (match[1] or "mon", match[2] or match[1] or "sun"))
    start, end = (_minute(span, int(match[hour]), int(match[hour + 1])) for hour in (3, 5))
    if start == end:
        raise ValueError(f"{span!r} last no time")
    return first, last, start, end


def _day(name: str) -> int:
    if name.casefold() not in _DAYS:
        raise ValueError(f"{name!r} is none of {', '.join(_DAYS)}")
    return _DAYS.index(name.casefold())


def _minute(span: str, hour: int, minute: int) -> int:
    if minute > 59 or hour * 60 + minute > 24 * 60:
        raise ValueError(f"{span!r} name a time that there is not")
    return hour * 60 + minute


def _on(day: int, first: int, last: int) -> bool:
    return (day - first) % 7 <= (last - first) % 7


class NewPlace(Value):
    """A place of the world, as it is built."""

    path: tuple[Label, ...] = Field(min_length=1, max_length=4)
    """From the world down: world, sector, arena, object."""
    capacity: int | None = Field(default=None, ge=1, le=100_000)
    """How many there is room for; None: for any number."""
    hours: tuple[str, ...] = ()
    """When it is open; none: always."""
    staff: tuple[Id, ...] = ()
    """Agents who may enter while it is closed."""
    uses: tuple[Label, ...] = ()
    """What it is good for, in words: a bed is for ``sleep``."""
    state: Label = REST
    """Of an object that nobody uses."""

    @field_validator("path")
    @classmethod
    def _plain(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if ":" in name:
                raise ValueError(f"{name!r} has a colon in it, which stands between places")
        return value

    @field_validator("hours")
    @classmethod
    def _readable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for span in value:
            _read(span)
        return value

    @model_validator(mode="after")
    def _of_its_level(self) -> Self:
        kind = kind_of(self.address)
        if kind in ("world", "object"):
            for name in ("capacity", "hours", "staff"):
                if getattr(self, name):
                    raise ValueError(f"{name}: {self.name!r} is {_A[kind]}: only a house or a room has {name}")
        if kind != "object" and self.state != REST:
            raise ValueError(f"state: {self.name!r} is {_A[kind]}: only a thing in a room has a state")
        return self

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path[-1]

    @property
    def address(self) -> str:
        """Its path as it is stored: ``world:sector:arena:object``."""
        return ":".join(self.path)


class World(Value):
    """A world: its tree of places."""

    name: Label
    time_zone: TimeZone = "UTC"
    """Of its opening hours."""
    places: tuple[NewPlace, ...] = Field(min_length=1)
    """Those above a place need not be given."""

    @model_validator(mode="after")
    def _one_tree(self) -> Self:
        seen: set[tuple[str, ...]] = set()
        for place in self.places:
            if place.path[0] != self.name:
                raise ValueError(f"{place.address!r} is not in the world {self.name!r}")
            if place.path in seen:
                raise ValueError(f"{place.address!r} is given twice")
            seen.add(place.path)
        return self


class Place(Value):
    """A place: of the world as it is, or of the part that an agent knows, as it last saw it."""

    path: str
    name: str
    kind: PlaceKind
    capacity: int | None = None
    hours: tuple[str, ...] = ()
    staff: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    state: str | None = None
    """Of an object: what it is doing, or what is done with it."""
    rest: str | None = None
    """Of an object: its state when nobody uses it."""
    state_since: datetime | None = None
    state_by: str | None = None
    """The agent that brought it about."""
    time_zone: str | None = None
    """Of a world."""
    last_seen_at: datetime | None = None
    """Of what an agent knows: when it saw it; None where it was only told of it."""


class Whereabouts(Value):
    """Where an agent is, and what it is doing."""

    agent_id: str
    name: str
    place: str | None = None
    """The arena, as a path in the world; None: nowhere."""
    place_since: datetime | None = None
    object: str | None = None
    """The object that it uses, as a path."""
    doing: str | None = None
    doing_since: datetime | None = None
    acting_on: str | None = None
    """The plan that it carries out, by id."""
    home: str | None = None
    time_zone: str = "UTC"


class Perceived(Value):
    """What an agent perceived where it is."""

    at: UtcTime
    place: str | None
    new: tuple[Observation, ...] = ()
    """What was new to it, as it is remembered now."""
    people: tuple[str, ...] = ()
    """Other agents in sight, by id."""
    unchanged: int = 0
    """How much in sight was as it knew it, and was not stored again."""
    gone: tuple[str, ...] = ()
    """Places that it knew and that are not there any more."""


NormKind = Literal["room full", "closed"]


class NormBroken(Value):
    """A norm of a place that somebody broke."""

    norm: NormKind
    agent_id: str
    place: str
    at: datetime
    others: tuple[str, ...] = ()
    """Who was in the room already."""


class Acted(Value):
    """Where an agent went, and what it does there."""

    at: UtcTime
    agent_id: str
    place: str | None
    object: str | None = None
    doing: str | None = None
    """None: it has no plan for now, or one that is stale."""
    plan_id: str | None = None
    moved: bool = False
    changed: bool = False
    """Whether it does something else than before."""
    broken: tuple[NormBroken, ...] = ()
    gone: str | None = None
    """A place where it wanted to go, that is not there."""


class Settled(Value):
    """An agent's place in the world."""

    home: str
    knows: int
    """How many places it knows now."""
