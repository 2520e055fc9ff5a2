"""Reading a society: ``world.toml`` with its places, people and events, beside a folder for each person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from graphmem.clock import UtcTime
from graphmem.errors import InvalidInput
from graphmem.interfaces import toml
from graphmem.interfaces.files import checked_folder, read_text
from graphmem.interfaces.seeds import FORMAT, WORLD, AgentSeed, default_folder, load_agent, read_toml
from graphmem.models import Id, Importance, Label, Text, Value
from graphmem.models.places import NewPlace, World


def _address(given: object) -> object:
    if not isinstance(given, list | tuple):
        return given
    parts = [part for part in cast("list[object]", given) if isinstance(part, str)]
    return ":".join(parts) if len(parts) == len(cast("list[object]", given)) else cast("object", given)


Address = Annotated[Label, BeforeValidator(_address)]
"""A place: a list of names from the world down, kept as ``world:sector:arena``."""


class Person(Value):
    """Somebody of the society."""

    id: Id
    """The name of the folder beside the file."""
    home: Address
    knows: tuple[Address, ...] = ()
    """Places that it knows from the beginning, each with all in it."""


class Relationship(Value):
    """What two people know of each other; both remember it."""

    between: tuple[Id, Id]
    text: Text


class Event(Value):
    """Something that is to be, and that one of them knows at first."""

    id: Id
    """Of the memory."""
    known_by: Id
    text: Text
    importance: Importance = 7


class Society(Value):
    """A world and who lives in it."""

    name: Label
    folder: Path
    start: UtcTime
    """When a simulation begins, unless it is told otherwise."""
    world: World
    people: tuple[Person, ...] = Field(min_length=1)
    relationships: tuple[Relationship, ...] = ()
    events: tuple[Event, ...] = ()
    seeds: tuple[AgentSeed, ...] = ()
    """Of the people, in their order."""

    @model_validator(mode="after")
    def _all_there(self) -> Self:
        known = [person.id for person in self.people]
        if len(set(known)) < len(known):
            raise ValueError("a person is named twice")
        named = [id_ for one in self.relationships for id_ in one.between] + [event.known_by for event in self.events]
        if missing := [id_ for id_ in named if id_ not in known]:
            raise ValueError(f"{missing[0]!r} is none of its people")
        staff = [id_ for place in self.world.places for id_ in place.staff]
        if strangers := [id_ for id_ in staff if id_ not in known]:
            raise ValueError(f"staff: {strangers[0]!r} is none of its people")
        return self


_TABLES = {"places": "place", "people": "person", "relationships": "relationship", "events": "event"}
"""By field, what its entries are called in the file."""


def default_society() -> Path:
    """The society that comes with graphmem."""
    return default_folder() / "society"


def load_society(folder: Path) -> Society:
    """Read a society's folder, or its ``world.toml``.

    Raises:
        InvalidInput: When a file is not as ``seeds/README.md`` has it; names file and line.
    """
    # What is named like a file is one: a slip in a folder's name is told as such.
    file = folder if folder.suffix == ".toml" else checked_folder(folder) / WORLD
    try:
        data = read_toml(file)
        fields = {"place", "person", "relationship", "event", "name", "time_zone", "start"}
        if unknown := sorted(set(data) - fields):
            lines = read_text(file).splitlines()
            line = toml.line_of(lines, unknown[0]) or next(iter(toml.headers(lines, unknown[0])), None)
            at = f"{file}:{line}" if line else str(file)
            raise InvalidInput(f"{at}: {unknown[0]}: is none of {', '.join(sorted(fields))}", remedy=FORMAT)
        if single := [name for name in _TABLES.values() if not isinstance(data.get(name, []), list)]:
            raise InvalidInput(f"{file}: {single[0]}: write [[{single[0]}]], in double brackets", remedy=FORMAT)
        world = toml.value(World, _world(data), file=file, remedy=FORMAT, tables=_TABLES)
        given = {
            "name": file.parent.name,
            "folder": file.parent,
            "start": data.get("start"),
            "world": world,
            "people": data.get("person", []),
            "relationships": data.get("relationship", []),
            "events": data.get("event", []),
        }
        society = toml.value(Society, given, file=file, remedy=FORMAT, tables=_TABLES)
        seeds = tuple(load_agent(file.parent / person.id) for person in society.people)
    except OSError as error:
        raise InvalidInput(f"{error.filename or folder}: cannot be read: {error.strerror}") from error
    return society.model_copy(update={"seeds": seeds})


def _world(data: Mapping[str, Any]) -> dict[str, Any]:
    places: Any = data.get("place", [])
    fields = {"name": data.get("name"), "places": places}
    return fields | ({"time_zone": data["time_zone"]} if "time_zone" in data else {})


def renamed(world: World, name: str, ids: Mapping[str, str]) -> World:
    """The world under another name, with other ids of its staff."""
    places = tuple(
        NewPlace.model_validate(
            place.model_dump() | {"path": (name, *place.path[1:]), "staff": tuple(ids[id_] for id_ in place.staff)}
        )
        for place in world.places
    )
    return World(name=name, time_zone=world.time_zone, places=places)
