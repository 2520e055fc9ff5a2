"""What came of a simulation, read back from the graph: a report in figures, and the whole of it as it was lived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from graphmem.cognition import places as placing
from graphmem.cognition.engine import Engine, checked_id
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.models import Plan
from graphmem.models.places import NormKind, Whereabouts
from graphmem.models.society import Lived, Remembered, Replay, Rounds, Simulation, SimulationReport, Step

_SECOND = timedelta(seconds=1)


async def simulation_of(engine: Engine, name: str) -> tuple[Simulation, int]:
    """A simulation, and how many of its steps were simulated.

    Raises:
        InvalidInput: When there is none of that name.
    """
    rows = await engine.store.query("society/get", simulation=checked_id(name, "name"))
    if not rows:
        raise InvalidInput(f"there is no simulation {name!r}", remedy="graphmem simulate makes one")
    found: dict[str, Any] = rows[0]["simulation"]
    return _simulation(found), found["done"]


def _simulation(properties: dict[str, Any]) -> Simulation:
    return Simulation.model_validate({field: properties[field] for field in Simulation.model_fields})


async def simulations(engine: Engine) -> tuple[Simulation, ...]:
    """All simulations, by name."""
    rows = await engine.store.query("society/list")
    return tuple(_simulation(row["simulation"]) for row in rows)


async def report(engine: Engine, name: str, *, before: int = 0, failures: Sequence[str] = ()) -> SimulationReport:
    """What came of a simulation so far, in figures.

    Raises:
        InvalidInput: When there is none of that name.
    """
    simulation, done = await simulation_of(engine, name)
    people = await placing.whereabouts(engine, simulation.agents)
    lived = [await _lived(engine, simulation, done, people[id_]) for id_ in simulation.agents if id_ in people]
    return SimulationReport(
        simulation=simulation, done=done, before=min(before, done), people=tuple(lived), failures=tuple(failures)
    )


async def _lived(engine: Engine, simulation: Simulation, done: int, who: Whereabouts) -> Lived:
    agent_id, since, until = who.agent_id, simulation.start, simulation.at(done) + _SECOND
    steps = await _steps(engine, simulation.name, agent_id)
    counts = (await engine.store.query("society/lived", agentId=agent_id, since=since, until=until))[0]
    rounds = await engine.store.query("society/rounds", agentId=agent_id, since=since, until=until)
    zone = ZoneInfo(who.time_zone)
    days = Counter(row["at"].astimezone(zone).date() for row in rounds)
    first, last = (moment.astimezone(zone).date() for moment in (since, simulation.at(max(done - 1, 0))))
    every = [first + timedelta(days=day) for day in range((last - first).days + 1)]
    broken = Counter[NormKind](norm for step, _ in steps for norm in step.broken)
    return Lived(
        agent_id=agent_id,
        name=who.name,
        steps=len(steps),
        moves=sum(moved for _, moved in steps),
        conversations=len({step.conversation for step, _ in steps if step.conversation}),
        broken=dict(broken),
        rounds=tuple(Rounds(agent_id=agent_id, day=day, rounds=days[day]) for day in every),
        **counts,
    )


async def _steps(engine: Engine, name: str, agent_id: str) -> list[tuple[Step, bool]]:
    """What an agent did, in order, and whether it went somewhere for it."""
    rows = await engine.store.query("society/steps", agentId=agent_id, simulation=name, since=0)
    found: list[tuple[Step, bool]] = []
    for row in rows:
        step = row["step"]
        found.append(
            (
                Step(
                    agent_id=agent_id,
                    number=step["number"],
                    at=step["at"],
                    place=step.get("place"),
                    object=step.get("object"),
                    plan_id=step.get("planId"),
                    conversation=step.get("conversation"),
                    with_=step.get("talkedWith"),
                    broken=tuple(step["broken"]),
                ),
                step["moved"],
            )
        )
    return sorted(found, key=lambda entry: entry[0].number)


async def replay(engine: Engine, name: str) -> Replay:
    """A simulation as it was lived.

    Raises:
        InvalidInput: When there is none of that name.
    """
    told = await report(engine, name)
    simulation = told.simulation
    since, until = simulation.start, simulation.at(told.done) + _SECOND
    remembered: list[Remembered] = []
    steps: list[Step] = []
    for agent_id in simulation.agents:
        rows = await engine.store.query("society/memories", agentId=agent_id, since=since, until=until)
        own = [
            Remembered(
                memory=to_memory(row),
                grounds=tuple(dict.fromkeys(row["grounds"])),
                heard_from=tuple((pair[0], pair[1]) for pair in row["heard"]),
            )
            for row in rows
        ]
        plans = {entry.memory.id: entry.memory.text for entry in own if isinstance(entry.memory, Plan)}
        remembered += own
        for step, _ in await _steps(engine, name, agent_id):
            doing = plans.get(step.plan_id or "")
            steps.append(step.model_copy(update={"doing": doing}))
    people = await placing.whereabouts(engine, simulation.agents)
    worlds = sorted({person.place.partition(":")[0] for person in people.values() if person.place})
    places = [place for world in worlds for place in await placing.world_of(engine, world)]
    zone = next((place.time_zone for place in places if place.time_zone), None)
    return Replay(
        report=told,
        names={id_: person.name for id_, person in people.items()},
        time_zone=zone or next(iter(person.time_zone for person in people.values())),
        steps=tuple(sorted(steps, key=lambda step: (step.number, step.agent_id))),
        memories=tuple(sorted(remembered, key=lambda e: (e.memory.occurred_at, e.memory.agent_id, e.memory.id))),
        places=tuple(places),
    )
