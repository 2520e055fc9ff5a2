"""Being somewhere: the world's tree of places, what an agent perceives of it where it is, and acting in it.

The world (scope ``''``) is as it is. What an agent knows of it is its own (scope: the agent), dated, and brought up to
date only by what it perceives where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from graphmem.cognition import observe as observing
from graphmem.cognition.engine import Engine, checked_id, create_agent, lock, unknown_agent
from graphmem.cognition.look_up import must_exist
from graphmem.errors import InvalidInput
from graphmem.graph.records import digest, to_memory, to_place, to_whereabouts
from graphmem.graph.store import Row, Transaction
from graphmem.language import scenes
from graphmem.models import NewObservation, Observation, validated
from graphmem.models.places import (
    REST,
    NewPlace,
    Perceived,
    Place,
    Settled,
    Whereabouts,
    World,
    is_in,
    kind_of,
    open_at,
    parent_of,
)

SEEN = "seen-"
"""How ids of what was perceived begin: they are made of what it is, so that the same is the same memory."""


# --- the world -----------------------------------------------------------------------------------------------------


async def build_world(engine: Engine, given: World | Mapping[str, Any], *, now: object = None) -> tuple[Place, ...]:
    """Build a world, or add to it: what is there already keeps its state. Returns the world as it is now.

    Raises:
        InvalidInput: When a value is refused; nothing was written.
    """
    fields = given.model_dump() if isinstance(given, World) else given
    if not isinstance(fields, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise InvalidInput(f"a World is needed, not {type(cast(object, given)).__name__}")
    world = validated(World, fields)
    at = await engine.now("", now)
    await engine.store.write(lambda tx: tx.one("place/build", rows=_rows(world), now=at))
    return await world_of(engine, world.name)


async def world_of(engine: Engine, name: str) -> tuple[Place, ...]:
    """A world as it is, from the top down; empty where there is none of that name."""
    rows = await engine.store.query("place/tree", scope="", path=checked_id(name, "name"))
    return tuple(to_place(row["place"]) for row in rows)


def _rows(world: World) -> list[Row]:
    """A world's places with those above them, each after the one around it."""
    given = {place.address: place for place in world.places}
    for place in world.places:
        for end in range(1, len(place.path)):
            above = NewPlace(path=place.path[:end])
            given.setdefault(above.address, above)
    rows: list[Row] = []
    for path in sorted(given, key=lambda path: (path.count(":"), path)):
        place = given[path]
        kind = kind_of(path)
        rows.append(
            {
                "path": path,
                "name": place.name,
                "kind": kind,
                "parent": parent_of(path),
                "capacity": place.capacity,
                "hours": list(place.hours),
                "staff": list(place.staff),
                "uses": list(place.uses),
                "rest": place.state if kind == "object" else None,
                "timeZone": world.time_zone if kind == "world" else None,
            }
        )
    return rows


async def settle(engine: Engine, agent_id: str, home: str, *, knows: Iterable[str] = (), now: object = None) -> Settled:
    """Give an agent a home in the world, and tell it of places; it is at home unless it is somewhere already.

    It knows its home and each of ``knows`` with all in them and what is around them. Of what it is told it has seen
    nothing, so these are not dated.

    Raises:
        InvalidInput: When one of the paths is no place of the world, or the home is no arena.
    """
    at = await engine.now(agent_id, now)
    wanted = list(dict.fromkeys([checked_id(home, "home"), *(checked_id(path, "knows") for path in knows)]))
    found: dict[str, Place] = {}
    for path in wanted:
        world = path.partition(":")[0]
        tree = await world_of(engine, world)
        there = {place.path: place for place in tree}
        if path not in there:
            raise InvalidInput(f"{path!r} is no place of the world", remedy="build the world first")
        found |= {p: place for p, place in there.items() if p == path or p.startswith(path + ":") or _holds(p, path)}
    if kind_of(home) != "arena":
        raise InvalidInput(f"home: {home!r} is no arena but a {kind_of(home)}", remedy="world:sector:arena")
    rows = [_known_row(found[path]) for path in _downwards(found)]

    async def work(tx: Transaction) -> int:
        await create_agent(tx, agent_id)
        await tx.run("place/settle", agentId=agent_id, home=home, place=home, now=at)
        row = await tx.one("place/tell", agentId=agent_id, rows=rows)
        return row["places"] if row else 0

    return Settled(home=home, knows=await engine.store.write(work))


def _holds(path: str, inner: str) -> bool:
    return inner.startswith(path + ":")


def _downwards(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=lambda path: (path.count(":"), path))


def _known_row(place: Place) -> Row:
    return {
        "path": place.path,
        "name": place.name,
        "kind": place.kind,
        "parent": parent_of(place.path),
        "capacity": place.capacity,
        "hours": list(place.hours),
        "staff": list(place.staff),
        "uses": list(place.uses),
        "rest": place.rest,
        "state": place.state,
        "stateSince": place.state_since,
    }


async def places(engine: Engine, agent_id: str) -> tuple[Place, ...]:
    """The places that an agent knows, as it last saw them, from the top down.

    Raises:
        UnknownAgent: When nothing was ever written for it.
    """
    await must_exist(engine.store, agent_id)
    return tuple(to_place(row["place"]) for row in await engine.store.query("place/known", agentId=agent_id))


async def whereabouts(engine: Engine, agent_ids: Sequence[str]) -> dict[str, Whereabouts]:
    """Where agents are; those that were never written to are left out."""
    rows = await engine.store.query("place/here", ids=list(agent_ids))
    return {row["whereabouts"]["agentId"]: to_whereabouts(row["whereabouts"]) for row in rows}


async def whereabouts_of(engine: Engine, agent_id: str) -> Whereabouts:
    """Where an agent is.

    Raises:
        UnknownAgent: When nothing was ever written for it.
    """
    found = await whereabouts(engine, [agent_id])
    if agent_id not in found:
        raise unknown_agent(agent_id)
    return found[agent_id]


# --- perceiving ----------------------------------------------------------------------------------------------------


@dataclass
class _InSight:
    """What there is to see from where an agent is."""

    me: Whereabouts
    places: dict[str, Place] = field(default_factory=dict[str, Place])
    """The arena with its objects, and what is around it."""
    people: list[Whereabouts] = field(default_factory=list[Whereabouts])
    known: dict[str, Place] = field(default_factory=dict[str, Place])

    @property
    def arena(self) -> Place | None:
        return self.places.get(self.me.place or "")

    @property
    def zone(self) -> ZoneInfo:
        """Of the world's clock."""
        return zone_of(self.places, self.me)


def zone_of(places: Mapping[str, Place], me: Whereabouts) -> ZoneInfo:
    """The time zone of a world's clock; that of the agent where the world has none."""
    world = places.get((me.place or me.home or "").partition(":")[0])
    return ZoneInfo((world.time_zone if world else None) or me.time_zone)


async def _look(engine: Engine, agent_id: str) -> _InSight:
    async def work(tx: Transaction) -> _InSight:
        here = await tx.one("place/here", ids=[agent_id])
        if here is None:
            raise unknown_agent(agent_id)
        sight = _InSight(to_whereabouts(here["whereabouts"]))
        if sight.me.place is None:
            return sight
        arena = sight.me.place
        around = [arena.rsplit(":", up)[0] for up in range(1, arena.count(":") + 1)]
        rows = [
            *await tx.run("place/some", paths=around),
            *await tx.run("place/tree", scope="", path=arena),
        ]
        sight.places = {place.path: place for row in rows for place in [to_place(row["place"])]}
        people = await tx.run("place/people", places=[arena])
        sight.people = [to_whereabouts(row["whereabouts"]) for row in people]
        known = await tx.run("place/tree", scope=agent_id, path=arena)
        sight.known = {place.path: place for row in known for place in [to_place(row["place"])]}
        return sight

    return await engine.store.read(work)


async def perceive(engine: Engine, agent_id: str, *, now: object = None) -> Perceived:
    """Look around: store what is new, and bring the known part of the world up to date where the agent is.

    New is an object in another state than the agent knew (one that it never saw counts as unused), a place found
    closed, and anybody there, itself included, who does something else than when it last looked. Their ids are made of
    what is perceived and since when, so that looking again, or after a break, stores nothing twice.

    Raises:
        UnknownAgent: When nothing was ever written for it.
    """
    at = await engine.now(agent_id, now)
    sight = await _look(engine, agent_id)
    if sight.arena is None:
        return Perceived(at=at, place=sight.me.place)
    items, total = _items(sight, at)
    if items:
        moments = {item.id: at for item in items if item.id is not None}
        await observing.store(engine, agent_id, items, at, moments=moments)
    seen = set(sight.places)
    gone = tuple(path for path in _downwards(sight.known) if path not in seen)
    rows = [_known_row(sight.places[path]) for path in _downwards(sight.places)]

    async def work(tx: Transaction) -> tuple[Observation, ...]:
        await lock(tx, agent_id)
        await tx.run("place/see", agentId=agent_id, rows=rows, now=at)
        if gone:
            await tx.run("place/lose", agentId=agent_id, paths=list(gone))
        # Read back, so that a look that was cut off and is taken again tells the same.
        found = await tx.run("place/seen", agentId=agent_id, now=at, prefix=SEEN)
        memories = [to_memory(row) for row in found]
        return tuple(memory for memory in memories if isinstance(memory, Observation))

    new = await engine.store.write(work)
    return Perceived(
        at=at,
        place=sight.me.place,
        new=new,
        people=tuple(person.agent_id for person in sight.people if person.agent_id != agent_id),
        unchanged=max(0, total - len(new)),
        gone=gone,
    )


def _items(sight: _InSight, at: datetime) -> tuple[list[NewObservation], int]:
    """What an agent sees that may be new to it, and how much there is in sight."""
    arena = sight.arena
    assert arena is not None
    items: list[NewObservation] = []
    objects = [place for place in sight.places.values() if place.kind == "object"]
    for thing in objects:
        before = sight.known.get(thing.path)
        knew = before.state if before is not None and before.state is not None else thing.rest or REST
        # A state that it brought about itself is what it is doing, which it perceives as such.
        if thing.state is None or thing.state == knew or thing.state_by == sight.me.agent_id:
            continue
        items.append(
            _seen(
                f"The {thing.name} in the {arena.name} is {thing.state}",
                (thing.path, thing.state, str(thing.state_since)),
                place=arena.path,
                subject=thing.path,
            )
        )
    doing = [person for person in sight.people if person.doing is not None]
    for person in doing:
        items.append(
            _seen(
                scenes.scene(person.name, arena.name, str(person.doing), room=bool(objects)),
                (person.agent_id, arena.path, str(person.doing), str(person.doing_since)),
                place=arena.path,
                subject=person.name,
            )
        )
    for place in sight.places.values():
        before = sight.known.get(place.path)
        if place.path == arena.path and not open_at(place.hours, at, sight.zone) and not _may_enter(place, sight.me):
            told = f"The {place.name} is closed; it is open {', '.join(place.hours)}"
            items.append(_seen(told, (place.path, f"{at:%Y-%m-%d}"), place=place.path, subject=place.path))
    return items, len(objects) + len(doing)


def _seen(text: str, what: Sequence[str], *, place: str, subject: str) -> NewObservation:
    # The text first, which names neither the world nor an id: so the order of these memories, by which what is equally
    # good is chosen, is the same in a society of another name.
    made = digest(text)[:12] + digest("\n".join(what))[:12]
    return NewObservation(text=text, id=f"{SEEN}{made}", place=place, subject=subject)


def _may_enter(place: Place, who: Whereabouts) -> bool:
    return who.agent_id in place.staff or is_in(who.home, place.path)


def closed_to(places: Mapping[str, Place], path: str, who: Whereabouts, at: datetime, zone: ZoneInfo) -> str | None:
    """The place, of a place and those around it, that is closed to an agent at a moment; None where none is."""
    while True:
        place = places.get(path)
        if place is not None and not open_at(place.hours, at, zone) and not _may_enter(place, who):
            return place.path
        above = parent_of(path)
        if above is None:
            return None
        path = above
