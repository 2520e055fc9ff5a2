"""Making a society in a store: its world, its people, and what they remember before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from graphmem.errors import InvalidInput
from graphmem.interfaces.seeds import AgentSeed
from graphmem.interfaces.society.files import Person, Society, renamed
from graphmem.memory import Memory
from graphmem.models import NewObservation
from graphmem.models.places import LEVELS, NewPlace, World

_IMPORTANCE = 5
"""Of what people know of each other."""


def agent_ids(society: Society, name: str) -> dict[str, str]:
    """By folder, the agent's id in the store: ``simulation/folder``."""
    return {person.id: f"{name}/{person.id}" for person in society.people}


def prepare(memory: Memory, society: Society, name: str, *, start: datetime) -> tuple[str, ...]:
    """Make the world and the people of a simulation, unless they are there; returns the agents' ids.

    The world is called as in its file where the simulation is called as its folder, else it is one of its own.

    Raises:
        IdConflict: When people of these names remember something else.
    """
    ids = agent_ids(society, name)
    world_name = society.world.name if name == society.name else f"{society.world.name} ({name})"
    memory.build_world(renamed(society.world, world_name, ids), now=start)
    for person, seed in zip(society.people, society.seeds, strict=True):
        agent = memory.agent(ids[person.id])
        agent.configure(**seed.config.model_dump(exclude_none=True, exclude={"clock"}))
        agent.observe_many(_remembered(society, person, seed, start), now=start)
        places = [_moved(path, world_name) for path in person.knows]
        agent.settle(_moved(person.home, world_name), knows=places, now=start)
    return tuple(ids.values())


def _moved(path: str, world: str) -> str:
    return ":".join([world, *path.split(":")[1:]])


def _remembered(society: Society, person: Person, seed: AgentSeed, start: datetime) -> list[NewObservation]:
    names = {one.id: seed.name for one, seed in zip(society.people, society.seeds, strict=True)}
    items = [item for day in seed.days for item in day.observations]
    for number, one in enumerate(society.relationships, start=1):
        if person.id in one.between:
            other = next(id_ for id_ in one.between if id_ != person.id)
            items.append(
                NewObservation(
                    id=f"knows-{number}",
                    text=one.text,
                    kind="fact",
                    importance=_IMPORTANCE,
                    occurred_at=start,
                    subject=names[person.id],
                    object=names[other],
                )
            )
    items += [
        NewObservation(id=event.id, text=event.text, kind="fact", importance=event.importance, occurred_at=start)
        for event in society.events
        if event.known_by == person.id
    ]
    return items


def prepare_known(memory: Memory, agents: Sequence[str], *, start: datetime | None) -> datetime:
    """Make ready agents that are in the store already, such as imported ones: their world is what they know together.

    Returns:
        When they begin: ``start``, else the latest of their own clocks.

    Raises:
        UnknownAgent: When one of them is not there.
        InvalidInput: When one knows no room, or none has a clock and no start is given.
    """
    clocks = [clock for id_ in agents if (clock := memory.agent(id_).info().clock) is not None]
    if start is None and not clocks:
        raise InvalidInput("none of these agents has a clock", remedy="say from when on: --start")
    begins = start or max(clocks)
    known = {id_: memory.agent(id_).places() for id_ in agents}
    if lost := [id_ for id_, places in known.items() if not any(place.kind == "arena" for place in places)]:
        raise InvalidInput(f"agent {lost[0]!r} knows no room", remedy="give it a home: agent.settle (docs/society.md)")
    paths = {place.path for places in known.values() for place in places if place.path.count(":") < len(LEVELS)}
    for world in sorted({path.partition(":")[0] for path in paths}):
        if not memory.world(world):
            own = sorted(path for path in paths if path.partition(":")[0] == world)
            places = tuple(NewPlace(path=tuple(path.split(":"))) for path in own)
            memory.build_world(World(name=world, places=places), now=begins)
    for id_, places in known.items():
        agent = memory.agent(id_)
        here = agent.whereabouts()
        arenas = [place.path for place in places if place.kind == "arena"]
        if here.place is None or here.home is None:
            agent.settle(here.home if here.home in arenas else arenas[0], now=begins)
    return begins
