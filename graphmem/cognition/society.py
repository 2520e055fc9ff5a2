"""A small society in simulated time: each step its agents perceive, react, talk, act and reflect (Park et al. 2023).

A step ends in one transaction, which moves everybody, changes what they use and records the step. All that comes before
it in a step can be done again: what is perceived has an id made of what it is, conversations one made of the step, and
plans and reflections are not made twice. So a simulation that is cut off anywhere goes on with the step it was in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, TypeVar, cast
from zoneinfo import ZoneInfo

from graphmem.cognition import acting, lessons, meeting, planning, reflect
from graphmem.cognition import places as placing
from graphmem.cognition.engine import Engine, lock, tidy_up
from graphmem.cognition.leases import kept
from graphmem.cognition.look_up import must_exist
from graphmem.cognition.meeting import Met
from graphmem.cognition.react import react
from graphmem.errors import InvalidInput, ReplyRefused, StoreInconsistent
from graphmem.graph.records import digest
from graphmem.graph.store import Row, Transaction
from graphmem.models import Observation, validated
from graphmem.models.places import Acted, Perceived
from graphmem.models.planning import CurrentPlan, Reaction
from graphmem.models.society import Simulation

T = TypeVar("T")

LEASE_SECONDS = 20
"""How long a process that simulates may be silent before another may go on."""
_POIGNANT = 8
"""What is perceived and at least so important is reacted to, whoever it is about."""
_RECENT = 2
"""Steps that are looked back at to tell whom an agent meets from whom it is with."""
_BACK = timedelta(days=2)
"""Plans that began longer ago are not looked at any more."""

Progress = Callable[[int, int, datetime], None]
"""Told how many steps are simulated, of how many, and the moment that was reached."""


@dataclass
class _Mind:
    """One agent in one step."""

    perceived: Perceived
    plan: CurrentPlan | None
    reaction: Reaction | None = None
    met: Met | None = None


@dataclass
class Run:
    """One call that simulates."""

    engine: Engine
    given: Simulation
    token: str = field(default_factory=lambda: token_hex(8))
    failures: list[str] = field(default_factory=list[str])
    zones: dict[str, ZoneInfo] = field(default_factory=dict[str, ZoneInfo])

    # --- all of it -----------------------------------------------------------------------------------------------

    async def go(self, progress: Progress | None) -> int:
        """Simulate what is left; returns how many steps earlier calls had simulated."""
        given = self.given
        await self._begin()
        async with self._leased():
            # Looked at under the lease: whoever had it before may have simulated more meanwhile.
            done = (await self.engine.store.query("society/get", simulation=given.name))[0]["simulation"]["done"]
            await self._each(given.agents, lambda agent_id: self._release_orphans(agent_id, given.at(done)))
            before = done
            while done < given.steps:
                await self._step(done)
                done += 1
                if progress:
                    progress(done, given.steps, given.at(done))
            await self._each(given.agents, lambda agent_id: self._finish(agent_id, given.end))
        return before

    async def _begin(self) -> None:
        """Make the simulation, or find the one of that name, which must be the same but for how long it is."""
        given, store = self.given, self.engine.store
        there = await placing.whereabouts(self.engine, given.agents)
        if missing := [agent for agent in given.agents if agent not in there]:
            await must_exist(self.engine.store, missing[0])
        if nowhere := [agent for agent in given.agents if there[agent].place is None]:
            raise InvalidInput(
                f"agent {nowhere[0]!r} is nowhere", remedy="give it a home in a world: agent.settle, or world.toml"
            )
        self.zones = {agent: ZoneInfo(there[agent].time_zone) for agent in given.agents}
        fixed = {
            "agents": list(given.agents),
            "start": given.start,
            "minutes": given.minutes,
            "talk": given.talk,
            "reflect": given.reflect,
        }
        row = await store.write(
            lambda tx: tx.one("society/begin", simulation=given.name, properties=fixed, steps=given.steps)
        )
        assert row is not None
        found = row["simulation"]
        if other := [name for name, value in fixed.items() if found[name] != value]:
            raise InvalidInput(
                f"simulation {given.name!r} was begun with {other[0]} {found[other[0]]}, not {fixed[other[0]]}",
                remedy="go on with the same, or give the simulation another name",
            )

    @asynccontextmanager
    async def _leased(self) -> AsyncGenerator[None]:
        """Hold the simulation, so that no other process simulates it; wait for one that died."""
        store, name = self.engine.store, self.given.name

        async def lease() -> bool:
            row = await store.write(
                lambda tx: tx.one("society/lease", simulation=name, token=self.token, seconds=LEASE_SECONDS)
            )
            return row is not None and row["mine"]

        try:
            for _ in range(2 * LEASE_SECONDS):
                if await lease():
                    break
                await asyncio.sleep(1)
            else:
                raise InvalidInput(
                    f"another process simulates {name!r}", remedy="wait for it, or give the simulation another name"
                )
            async with kept(lease, seconds=LEASE_SECONDS):
                yield
        finally:
            await tidy_up(lambda: store.write(lambda tx: tx.run("society/release", simulation=name, token=self.token)))

    async def _release_orphans(self, agent_id: str, at: datetime) -> None:
        """End what a process that died in this very step had open: a reflection gives its trigger back."""

        async def work(tx: Transaction) -> None:
            await lock(tx, agent_id)
            await tx.run("society/orphans", agentId=agent_id, at=at)

        await self.engine.store.write(work)

    # --- one step ------------------------------------------------------------------------------------------------

    async def _step(self, number: int) -> None:
        given = self.given
        at = given.at(number)
        with_before = await self._together(number)
        minds = await self._each(given.agents, lambda agent_id: self._wake(agent_id, at))
        await self._each(given.agents, lambda agent_id: self._react(agent_id, minds[agent_id], with_before, at))
        await self._talk(number, minds, at)
        intents = await self._each(given.agents, lambda agent_id: self._intend(agent_id, minds[agent_id], at))
        if given.reflect:
            await self._each(given.agents, lambda agent_id: self._reflect(agent_id, at))

        async def work(tx: Transaction) -> None:
            acted = await acting.carry_out(tx, list(intents.values()), at, clock=given.at(number + 1))
            rows = [_row(acted[agent_id], minds[agent_id].met, at) for agent_id in given.agents]
            if (
                await tx.one("society/record", simulation=given.name, number=number, token=self.token, rows=rows)
                is None
            ):
                raise StoreInconsistent(
                    f"step {number} of simulation {given.name!r} is not the next one any more",
                    remedy="another process simulates it: wait for that one",
                )

        await self.engine.store.write(work)

    async def _together(self, number: int) -> Mapping[str, set[str]]:
        """By agent, who was with it at the end of the step before the last: those it does not meet now."""
        last: dict[str, str | None] = {}
        since = max(0, number - _RECENT)
        for agent_id in self.given.agents:
            rows = await self.engine.store.query(
                "society/steps", agentId=agent_id, simulation=self.given.name, since=since
            )
            last |= {
                row["step"]["agentId"]: row["step"].get("place")
                for row in rows
                if row["step"]["number"] == number - _RECENT
            }
        return {
            agent: {other for other, place in last.items() if other != agent and place is not None and place == here}
            for agent, here in last.items()
        }

    async def _wake(self, agent_id: str, at: datetime) -> _Mind:
        """Say what became of plans that are over, see to what is planned now, and look around."""
        await self._finish(agent_id, at)
        plan = await self._plan(agent_id, at)
        return _Mind(await placing.perceive(self.engine, agent_id, now=at), plan)

    async def _finish(self, agent_id: str, at: datetime) -> None:
        rows = await self.engine.store.query(
            "society/over", agentId=agent_id, simulation=self.given.name, since=self.given.start - _BACK, at=at
        )
        for row in rows:
            state = "done" if row["acted"] else "missed"
            reason = "" if row["acted"] else "it did something else"
            await planning.finish(self.engine, agent_id, row["id"], state=state, reason=reason, now=at)

    async def _plan(self, agent_id: str, at: datetime) -> CurrentPlan | None:
        engine = self.engine
        current = await planning.current_plan(engine, agent_id, at)
        if current is not None and current.stale:
            await self._tolerated(agent_id, planning.replan(engine, agent_id, now=at))
            current = await planning.current_plan(engine, agent_id, at)
        if current is None:
            await self._tolerated(agent_id, planning.plan_day(engine, agent_id, now=at))
            current = await planning.current_plan(engine, agent_id, at)
        return current

    async def _react(self, agent_id: str, mind: _Mind, with_before: Mapping[str, set[str]], at: datetime) -> None:
        """React to whom it meets, or to what is poignant: to the most important of it."""
        names = {person.name: id_ for id_, person in (await self._people(mind.perceived)).items()}
        met = {name: id_ for name, id_ in names.items() if id_ not in with_before.get(agent_id, set())}
        candidates = [o for o in mind.perceived.new if o.subject in met or self._poignant(agent_id, o, names)]
        if not candidates:
            return
        chosen = max(candidates, key=lambda o: (o.importance, o.subject in met, o.id))
        about = names.get(chosen.subject or "")
        if await meeting.reacted(self.engine, agent_id, chosen.id):
            return  # before this step was cut off
        mind.reaction = await self._tolerated(agent_id, react(self.engine, agent_id, chosen.id, about=about, now=at))
        if mind.reaction is not None and mind.reaction.new:
            mind.plan = await planning.current_plan(self.engine, agent_id, at)

    async def _people(self, perceived: Perceived) -> Mapping[str, Any]:
        return await placing.whereabouts(self.engine, perceived.people) if perceived.people else {}

    def _poignant(self, agent_id: str, observation: Observation, names: Mapping[str, str]) -> bool:
        # What it does itself is perceived as well, and nothing to react to.
        return observation.importance >= _POIGNANT and observation.subject in {*names, observation.place}

    async def _talk(self, number: int, minds: Mapping[str, _Mind], at: datetime) -> None:
        """Those who want to talk do, in the order of their ids, each with one other."""
        if not self.given.talk:
            return
        for agent_id in sorted(minds):
            reaction = minds[agent_id].reaction
            other = reaction.converse_with if reaction is not None else None
            if reaction is None or other is None or other not in minds:
                continue
            if minds[agent_id].met is not None or minds[other].met is not None:
                continue
            pair = digest("\n".join(sorted([agent_id, other])))[:12]
            # The name comes last: what is chosen by id where all else is equal is the same under another name.
            conversation = f"talk-{number:06}-{pair}-{digest(self.given.name)[:12]}"
            place = minds[agent_id].perceived.place
            met = await self._tolerated(
                agent_id,
                meeting.meet(
                    self.engine,
                    agent_id,
                    other,
                    conversation=conversation,
                    place=place,
                    now=at,
                ),
            )
            if met is None:
                continue
            for one in (agent_id, other):
                minds[one].met = met
                minds[one].plan = await planning.current_plan(self.engine, one, at)

    async def _intend(self, agent_id: str, mind: _Mind, at: datetime) -> acting.Intent:
        me = await placing.whereabouts_of(self.engine, agent_id)
        if mind.met is not None:
            return acting.Intent(me, me.place, doing=f"talking with {mind.met.names[mind.met.other(agent_id)]}")
        intent = await self._tolerated(agent_id, acting.decide(self.engine, agent_id, mind.plan, at))
        return intent or acting.Intent(me, me.place)

    async def _reflect(self, agent_id: str, at: datetime) -> None:
        rows = await self.engine.store.query("reflect/state", agentId=agent_id)
        if rows and rows[0]["importance"] >= rows[0]["threshold"]:
            await self._tolerated(agent_id, reflect.reflect(self.engine, agent_id, now=at))
        zone = self.zones[agent_id]
        if at.astimezone(zone).date() != (at + timedelta(minutes=self.given.minutes)).astimezone(zone).date():
            await self._tolerated(agent_id, lessons.learn(self.engine, agent_id, now=at))

    # --- helpers -------------------------------------------------------------------------------------------------

    async def _tolerated(self, agent_id: str, work: Awaitable[T]) -> T | None:
        """The result, or None where no reply of the model could be used: told in the report, and the agent goes on."""
        try:
            return await work
        except ReplyRefused as error:
            self.failures.append(f"{agent_id}: {error}")
            return None

    async def _each(self, agents: Sequence[str], work: Callable[[str], Awaitable[T]]) -> dict[str, T]:
        """Do something for all agents at once; the first error, when all have ended."""
        results = await asyncio.gather(*(work(agent_id) for agent_id in agents), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return dict(zip(agents, cast("list[T]", results), strict=True))


def _row(acted: Acted, met: Met | None, at: datetime) -> Row:
    return {
        "agentId": acted.agent_id,
        "properties": {
            "at": at,
            "place": acted.place,
            "object": acted.object,
            "planId": acted.plan_id,
            "moved": acted.moved,
            "conversation": met.conversation if met else None,
            "talkedWith": met.other(acted.agent_id) if met else None,
            "broken": [norm.norm for norm in acted.broken],
        },
    }


async def run(
    engine: Engine, given: Simulation | Mapping[str, Any], *, progress: Progress | None = None
) -> tuple[Simulation, int, tuple[str, ...]]:
    """Simulate; returns what was simulated, how many steps were there before, and what the model failed at.

    Raises:
        InvalidInput, UnknownAgent: When it is refused; nothing was simulated.
        GraphmemError: When something fails; what was simulated before stays, and the same call goes on.
    """
    fields = given.model_dump() if isinstance(given, Simulation) else given
    simulation = validated(Simulation, fields)
    work = Run(engine, simulation)
    before = await work.go(progress)
    return simulation, before, tuple(work.failures)
