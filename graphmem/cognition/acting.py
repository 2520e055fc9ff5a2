"""Acting: where an agent goes to do what it has planned, what it uses there, and which norms that breaks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.cognition import planning
from graphmem.cognition.engine import Engine, answer, lock
from graphmem.cognition.places import closed_to, places, whereabouts_of, zone_of
from graphmem.cognition.runs import Run, running
from graphmem.errors import ReplyRefused
from graphmem.graph.records import to_place, to_whereabouts
from graphmem.graph.store import Row, Transaction
from graphmem.language.base import EXTRACTIVE
from graphmem.language.places import Choice, ChoosePlace, PlaceOption
from graphmem.models.places import REST, Acted, NormBroken, Place, Whereabouts, is_in, kind_of, parent_of
from graphmem.models.planning import CurrentPlan

_PART = re.compile(r"\s*\(\d+ of \d+\)$")
"""Which part of a plan a step is: not something that anybody sees."""
_HELD = 40
"""Names of what is in a place that an option shows."""


@dataclass(frozen=True)
class Intent:
    """What an agent is about to do, and where."""

    me: Whereabouts
    place: str | None
    object: str | None = None
    state: str | None = None
    """What the object is doing meanwhile."""
    doing: str | None = None
    plan_id: str | None = None

    @property
    def moves(self) -> bool:
        """Whether it goes somewhere else."""
        return self.place != self.me.place

    @property
    def changes(self) -> bool:
        """Whether it does something else."""
        return self.moves or self.doing != self.me.doing or self.object != self.me.object


async def act(engine: Engine, agent_id: str, at: object = None) -> Acted:
    """Do what is planned for a moment, where it can be done: go there, use something, change its state.

    Raises:
        UnknownAgent: When nothing was ever written for it.
        LanguageModelError, EmbeddingError: When the model fails; nothing changed.
    """
    moment = await engine.now(agent_id, at)
    plan = await planning.current_plan(engine, agent_id, moment)
    intent = await decide(engine, agent_id, plan, moment)
    acted = await engine.store.write(lambda tx: carry_out(tx, [intent], moment))
    return acted[agent_id]


async def decide(engine: Engine, agent_id: str, current: CurrentPlan | None, at: datetime) -> Intent:
    """Find where to do what is planned, by descending what the agent knows of the world.

    Without a plan, or with one that is stale, it stays where it is and does nothing in particular. What it does already
    it goes on doing where it is. Where it knows that it is closed it neither goes nor stays: then it goes home.

    Raises:
        UnknownAgent: When nothing was ever written for it.
        LanguageModelError: When the model fails.
    """
    me = await whereabouts_of(engine, agent_id)
    if current is None or current.stale:
        return Intent(me, me.place)
    plan = current.plan
    doing = _PART.sub("", plan.text)
    known = {place.path: place for place in await places(engine, agent_id)}
    search = _Search(engine, me, known, doing, plan.place, at)
    if me.place is not None and me.doing == doing and me.place_since is not None and not search.closed(me.place):
        return Intent(me, me.place, me.object, None, doing, plan.id)
    if engine.language_model.name == EXTRACTIVE:
        place, thing, state = await search.descend(None)
    else:
        async with running(engine, agent_id, "act", engine.asks(ChoosePlace), at) as run:
            place, thing, state = await search.descend(run)
    return Intent(me, place, thing, state, doing, plan.id)


@dataclass
class _Search:
    """One descent of the tree that an agent knows."""

    engine: Engine
    me: Whereabouts
    known: Mapping[str, Place]
    doing: str
    hint: str | None
    at: datetime
    below: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By path, the places right below it."""

    def __post_init__(self) -> None:
        for path in self.known:
            if (above := parent_of(path)) is not None:
                self.below.setdefault(above, []).append(path)

    async def descend(self, run: Run | None) -> tuple[str | None, str | None, str | None]:
        """The arena, the object in it and its state; a place to stay where nothing is known."""
        world = (self.me.place or self.me.home or "").partition(":")[0]
        at, hint = (world if world in self.known else None), self.hint
        if hint is not None and (named := self._named(hint)) is not None:
            at = None if self.closed(named) else named
        while at is not None and kind_of(at) in ("world", "sector"):
            options = self.below.get(at, [])
            chosen, _ = await self._choose(run, at, options, objects=False)
            if chosen is None:
                return self._stays(), None, None
            at = chosen
        if at is None:
            return self._stays(), None, None
        if kind_of(at) == "object":
            return parent_of(at), at, self._state("")
        things = self.below.get(at, [])
        thing, state = await self._choose(run, at, things, objects=True)
        return at, thing, self._state(state) if thing is not None else None

    def closed(self, path: str) -> bool:
        """Whether a place, or one around it, is closed to the agent, as far as it knows."""
        return closed_to(self.known, path, self.me, self.at, zone_of(self.known, self.me)) is not None

    def _stays(self) -> str | None:
        """Where it is when it goes nowhere; at home where that is closed."""
        here, home = self.me.place, self.me.home
        return home if here is not None and home is not None and self.closed(here) else here

    def _state(self, told: str) -> str:
        return told or f"in use by {self.me.name}"

    def _named(self, hint: str) -> str | None:
        """The one known place that is called so, by its path or its name; None where none is, or several are."""
        if hint in self.known:
            return hint
        wanted = hint.strip().casefold().removeprefix("the ")
        found = [path for path, place in self.known.items() if place.name.casefold().removeprefix("the ") == wanted]
        # A house and a room in it may share a name: the house is meant.
        found = [path for path in found if not any(path.startswith(other + ":") for other in found)]
        return found[0] if len(found) == 1 else None

    async def _choose(
        self, run: Run | None, within: str, paths: Sequence[str], *, objects: bool
    ) -> tuple[str | None, str]:
        options = tuple(self._option(path) for path in paths)
        if not options:
            return None, ""
        if len(options) == 1 and not objects:
            return (None if options[0].closed else paths[0]), ""
        task = ChoosePlace(
            agent=self.me.name,
            doing=self.doing,
            hint=self.hint,
            within=self.known[within].name if within in self.known else None,
            objects=objects,
            options=options,
        )
        try:
            reply = await (answer(self.engine.language_model, task) if run is None else run.ask(self.engine, task, []))
        except ReplyRefused:
            if run is None:
                raise
            return None, ""  # The run keeps what was refused; the agent stays where it is.
        choice: Choice = reply.value
        if choice.number is None or not 1 <= choice.number <= len(paths):
            return None, ""
        return paths[choice.number - 1], choice.state

    def _option(self, path: str) -> PlaceOption:
        place = self.known[path]
        inside = [other for other in self.known.values() if other.path.startswith(path + ":")]
        holds = [name for other in inside for name in (other.name, *other.uses)]
        return PlaceOption(
            name=place.name,
            holds=tuple(dict.fromkeys(holds))[:_HELD],
            uses=place.uses,
            closed=self.closed(path),
            here=is_in(self.me.place, path),
            home=is_in(self.me.home, path),
        )


# --- carrying it out -----------------------------------------------------------------------------------------------


async def carry_out(
    tx: Transaction, intents: Sequence[Intent], at: datetime, *, clock: datetime | None = None
) -> dict[str, Acted]:
    """Move agents and change what they use, all at once; which norms that breaks is in what they did.

    Of several who enter a room in the same moment the first by id is there first. A place that is not there any more
    is not entered.

    Args:
        tx: A write transaction; the agents are locked in it.
        intents: What they are about to do.
        at: When.
        clock: What the agents' own clocks show from then on; None: as they are.
    """
    intents = sorted(intents, key=lambda intent: intent.me.agent_id)
    targets = sorted({intent.place for intent in intents if intent.place is not None})
    things = {path for i in intents for path in (i.object, i.me.object) if path is not None}
    # Locked before anything is read: nobody else moves them meanwhile.
    if intents:
        await lock(tx, intents[0].me.agent_id)  # This one also carries the mark of the transaction.
    await tx.run("place/lock", ids=[intent.me.agent_id for intent in intents])
    around = {path.rsplit(":", up)[0] for path in targets for up in range(path.count(":") + 1)}
    rows = await tx.run("place/some", paths=sorted(around | things))
    world = {place.path: place for row in rows for place in [to_place(row["place"])]}
    people = [to_whereabouts(row["whereabouts"]) for row in await tx.run("place/people", places=targets)]
    moving = {intent.me.agent_id for intent in intents if intent.moves}
    room = {path: {p.agent_id for p in people if p.place == path and p.agent_id not in moving} for path in targets}
    acted: dict[str, Acted] = {}
    states: dict[str, tuple[str, str | None]] = {}
    for intent in intents:
        me, place, thing = intent.me, intent.place, intent.object
        gone = next((p for p in (place, thing) if p is not None and p not in world), None)
        if place is not None and place not in world:
            place, thing = me.place, None
        elif thing is not None and thing not in world:
            thing = None
        moved = place != me.place
        begins = moved or (intent.doing is not None and intent.doing != me.doing)
        broken = _broken(me, place, room.get(place, set()), world, at) if begins and place is not None else ()
        if place is not None:
            room.setdefault(place, set()).add(me.agent_id)
        left = world.get(me.object or "") if me.object != thing else None
        if left is not None and left.state_by == me.agent_id:
            states.setdefault(left.path, (left.rest or REST, None))
        if thing is not None and intent.state is not None:
            states[thing] = (intent.state, me.agent_id)
        acted[me.agent_id] = Acted(
            at=at,
            agent_id=me.agent_id,
            place=place,
            object=thing,
            doing=intent.doing,
            plan_id=intent.plan_id,
            moved=moved,
            changed=moved or intent.doing != me.doing,
            broken=broken,
            gone=gone,
        )
    done: list[Row] = [
        {
            "agentId": one.agent_id,
            "place": one.place,
            "object": one.object,
            "doing": one.doing,
            "actingOn": one.plan_id,
            "moved": one.moved,
            "changed": one.changed,
            "clock": clock,
        }
        for one in acted.values()
    ]
    await tx.run("place/act", rows=done, now=at)
    changed = [{"path": path, "state": state, "by": by} for path, (state, by) in sorted(states.items())]
    await tx.run("place/states", rows=changed, now=at)
    for one in acted.values():
        if one.gone is not None:
            await tx.run("place/lose", agentId=one.agent_id, paths=[one.gone])
    return acted


def _broken(
    me: Whereabouts, place: str, inside: set[str], world: Mapping[str, Place], at: datetime
) -> tuple[NormBroken, ...]:
    """Which norms are broken by entering a place, or by beginning something else there."""
    found: list[NormBroken] = []
    room = world[place].capacity
    others = tuple(sorted(inside - {me.agent_id}))
    if room is not None and len(others) >= room and place != me.place:
        found.append(NormBroken(norm="room full", agent_id=me.agent_id, place=place, at=at, others=others))
    closed = closed_to(world, place, me, at, zone_of(world, me))
    if closed is not None:
        found.append(NormBroken(norm="closed", agent_id=me.agent_id, place=closed, at=at))
    return tuple(found)
