"""Writing agents as a save of the published Generative Agents code, as far as its files have room for what they hold.

What fits: observations and conversations, reflections with their evidence, what was told, the day's schedule, places,
the clock. What has no room: what ended, summaries' and procedures' kinds (they are thoughts), who told a fact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation.original import AUTHOR
from graphmem.models import AgentImport, AnyImported, ImportedObservation, ImportedPlan, ImportedReflection

_NODE = "node_"
_DAY = timedelta(days=1)
_KEPT = timedelta(days=30)
"""After which a thought expires by the file; nothing ever read it."""
_NOTHING = "(nothing planned)"
_DEFAULT_POIGNANCY = 4
"""Of what is rated by rule where it is imported."""
OWN_ID = "graphmem_id"
"""What a node is called here, where that is not its number."""


@dataclass(frozen=True)
class Exported:
    """What was written of one agent."""

    name: str
    folder: Path
    nodes: int
    left_out: int
    """Memories for which the files have no room: plans of other days, and parts of plans that are in the schedule."""


def write_original(folder: Path, agents: Sequence[AgentImport]) -> list[Exported]:
    """Write a save to a folder that is not there yet, or is empty.

    Raises:
        InvalidInput: When the folder holds something, two agents share a name, or it cannot be written.
    """
    names = [agent.config.name or "" for agent in agents]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"two agents are called {twice[0]!r}", remedy="export them one by one")
    if bad := [name for name in names if not name.strip() or "/" in name or name in (".", "..")]:
        raise InvalidInput(f"{bad[0]!r} cannot be the name of a folder", remedy="give the agent another name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise _taken(folder)
        try:
            # Of several that write there at once only one can make it.
            (folder / "reverie").mkdir()
        except FileExistsError as error:
            raise _taken(folder) from error
        clocks = [agent.config.clock for agent in agents if agent.config.clock is not None]
        zone = ZoneInfo(agents[0].config.time_zone or "UTC")
        now = max(clocks) if clocks else max(item.occurred_at for agent in agents for item in agent.memories)
        local = now.astimezone(zone)
        meta = {
            "fork_sim_code": "graphmem",
            "start_date": f"{local:%B %d, %Y}",
            "curr_time": f"{local:%B %d, %Y, %H:%M:%S}",
            "sec_per_step": 10,
            "maze_name": next((place.path[0] for agent in agents for place in agent.places), "none"),
            "persona_names": names,
            "step": 0,
        }
        _write(folder / "reverie" / "meta.json", meta)
        return [_Writer(agent, folder).write() for agent in agents]
    except OSError as error:
        raise InvalidInput(f"{error.filename or folder}: cannot be written: {error.strerror}") from error


def _taken(folder: Path) -> InvalidInput:
    return InvalidInput(f"{folder} holds something already", remedy="name a folder that is not there yet")


@dataclass
class _Writer:
    agent: AgentImport
    folder: Path
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """By memory, its node."""
    counts: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.agent.config.time_zone or "UTC")

    @property
    def name(self) -> str:
        return self.agent.config.name or ""

    def write(self) -> Exported:
        items = self.agent.memories
        turns: dict[str, list[ImportedObservation]] = {}
        for item in items:
            if isinstance(item, ImportedObservation) and item.kind == "utterance" and item.session is not None:
                turns.setdefault(item.session, []).append(item)
        told = {id_ for session in turns.values() for item in session for id_ in [item.id]}
        as_nodes = [item for item in items if item.id not in told and not _scheduled(item, self.zone)]
        missing = [session for session in turns if session not in {item.id for item in as_nodes}]
        self._number(as_nodes, missing, turns)
        nodes = {self.ids[item.id]: self._node(item, turns) for item in as_nodes}
        nodes |= {self.ids[session]: self._chat(session, turns[session]) for session in missing}
        ordered = dict(sorted(nodes.items(), key=lambda entry: -int(entry[0].removeprefix(_NODE))))
        home = self.folder / "personas" / self.name / "bootstrap_memory"
        _write(home / "associative_memory" / "nodes.json", ordered)
        _write(home / "associative_memory" / "kw_strength.json", {"kw_strength_event": {}, "kw_strength_thought": {}})
        _write(home / "associative_memory" / "embeddings.json", {})
        scratch, scheduled = self._scratch()
        _write(home / "scratch.json", scratch)
        _write(home / "spatial_memory.json", _tree(place.path for place in self.agent.places))
        plans = sum(_scheduled(item, self.zone) for item in items)
        return Exported(self.name, home, len(nodes), max(0, plans - scheduled))

    def _number(
        self,
        items: Sequence[AnyImported],
        sessions: Sequence[str],
        turns: Mapping[str, Sequence[ImportedObservation]],
    ) -> None:
        """Nodes keep their number; others follow, in their order."""
        kept = [item.id for item in items if _is_node(item.id)]
        self.ids = {id_: id_ for id_ in kept}
        number = max((int(id_.removeprefix(_NODE)) for id_ in kept), default=0)
        new = [(item.occurred_at, place, item.id) for place, item in enumerate(items) if item.id not in self.ids]
        new += [(turns[session][0].occurred_at, len(items), session) for session in sessions]
        # What rests on something comes after it already; conversations stand among them by their time.
        order = sorted(new, key=lambda entry: entry[1]) if not sessions else _merged(new, len(items))
        for _, _, id_ in order:
            number += 1
            self.ids[id_] = f"{_NODE}{number}"
        # What rests on something that was said rests on the conversation there.
        self.ids |= {turn.id: self.ids[session] for session, said in turns.items() for turn in said}

    # --- nodes ---------------------------------------------------------------------------------------------------

    def _node(self, item: AnyImported, turns: Mapping[str, Sequence[ImportedObservation]]) -> dict[str, Any]:
        rest: dict[str, Any] = json.loads(item.file_rest) if item.file_rest else {}
        if isinstance(item, ImportedReflection):
            return self._base("thought", item, rest, filling=_filling(item, self.ids), depth=item.file_depth or 1)
        if isinstance(item, ImportedPlan):
            plain = {"predicate": "plan", "keywords": ["plan"]}
            return self._base("thought", item, rest, filling=None, depth=1) | plain
        if item.id in turns:
            return self._base("chat", item, rest, filling=[[turn.source, turn.text] for turn in turns[item.id]])
        if item.kind == "fact" and item.source in (None, AUTHOR):
            return self._base("thought", item, rest, filling=None, depth=1)
        filling = [self.ids[item.session]] if item.session in self.ids else rest.get("filling", [])
        return self._base("event", item, rest, filling=filling)

    def _chat(self, session: str, turns: Sequence[ImportedObservation]) -> dict[str, Any]:
        """A conversation that no node stands for yet."""
        others = [turn.source for turn in turns if turn.source not in (None, self.name)]
        other = others[0] if others else None
        item = ImportedObservation(
            id=session,
            text=f"conversing with {other}" if other else "conversing",
            occurred_at=turns[0].occurred_at,
            subject=self.name,
            predicate="chat with",
            object=other,
            keywords=tuple(dict.fromkeys(name for name in (self.name, other) if name)),
        )
        return self._base("chat", item, {}, filling=[[turn.source, turn.text] for turn in turns])

    def _base(
        self, type_: str, item: AnyImported, rest: Mapping[str, Any], *, filling: object, depth: int = 0
    ) -> dict[str, Any]:
        self.counts[type_] = self.counts.get(type_, 0) + 1
        node = self.ids[item.id]
        expires = self._time(item.occurred_at + _KEPT) if type_ == "thought" else None
        own = {} if node == item.id else {OWN_ID: item.id}
        return {
            "node_count": int(node.removeprefix(_NODE)),
            "type_count": rest.get("type_count", self.counts[type_]),
            "type": type_,
            "depth": depth,
            "created": self._time(item.occurred_at),
            "expiration": rest.get("expiration", expires),
            "subject": item.subject,
            "predicate": item.predicate,
            "object": item.object,
            "description": item.text,
            "embedding_key": rest.get("embedding_key", item.text),
            "poignancy": item.importance or _DEFAULT_POIGNANCY,
            "keywords": list(item.keywords),
            "filling": filling,
            **own,
        }

    def _time(self, moment: datetime) -> str:
        return f"{moment.astimezone(self.zone):%Y-%m-%d %H:%M:%S}"

    # --- who, when, where ----------------------------------------------------------------------------------------

    def _scratch(self) -> tuple[dict[str, Any], int]:
        """Who somebody is, and the schedule of its day; with how many plans are in that."""
        config, agent = self.agent.config, self.agent
        rest: dict[str, Any] = json.loads(agent.file_rest) if agent.file_rest else {}
        traits = dict(line.split(": ", 1) for line in (config.traits or "").split("\n") if ": " in line)
        if not set(traits) & {"innate", "learned"}:
            traits = {"innate": config.traits or ""}
        first, _, last = self.name.partition(" ")
        threshold = config.reflection_threshold or 150
        scratch: dict[str, Any] = {
            "first_name": first,
            "last_name": last,
            **rest,
            "name": self.name,
            **{name: int(text) if name == "age" and text.isdecimal() else text for name, text in traits.items()},
            "importance_trigger_max": threshold,
            "importance_trigger_curr": threshold - agent.importance_since_reflection,
            "importance_ele_n": agent.observed_since_reflection,
        }
        if agent.home is not None:
            scratch["living_area"] = agent.home
        if agent.place is not None and not str(scratch.get("act_address") or "").startswith(agent.place):
            scratch["act_address"] = agent.place
        if config.clock is None:
            return scratch, 0
        local = config.clock.astimezone(self.zone)
        scratch["curr_time"] = f"{local:%B %d, %Y, %H:%M:%S}"
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        plans = [item for item in agent.memories if isinstance(item, ImportedPlan) and _scheduled(item, self.zone)]
        plans = [plan for plan in plans if midnight < plan.end and plan.start < midnight + _DAY]
        hours = _finest(plans, ("hour", "day"))
        steps = _finest(plans, ("step", "hour", "day"))
        scratch["f_daily_schedule_hourly_org"] = _schedule(hours, midnight)
        scratch["f_daily_schedule"] = _schedule(steps, midnight)
        return scratch, len({plan.id for plan in [*hours, *steps]})


def _is_node(id_: str) -> bool:
    number = id_.removeprefix(_NODE)
    return id_.startswith(_NODE) and number.isascii() and number.isdecimal() and len(number) <= 12 and number != "0"


def _merged(new: Sequence[tuple[datetime, int, str]], conversations: int) -> list[tuple[datetime, int, str]]:
    """Items in their order, each conversation before the first that is later, or rests on it."""
    items = [entry for entry in new if entry[1] < conversations]
    talks = sorted(entry for entry in new if entry[1] == conversations)
    # An item that rests on what was said is later than it.
    found: list[tuple[datetime, int, str]] = []
    for entry in sorted(items, key=lambda item: item[1]):
        while talks and talks[0][0] <= entry[0]:
            found.append(talks.pop(0))
        found.append(entry)
    return [*found, *talks]


def _scheduled(item: AnyImported, zone: ZoneInfo) -> bool:
    """Whether it belongs into a schedule: a plan, but for the plan of a whole day in a sentence."""
    if not isinstance(item, ImportedPlan):
        return False
    local = item.start.astimezone(zone)
    whole = item.kind == "day" and item.end - item.start == _DAY and (local.hour, local.minute) == (0, 0)
    return not whole


def _filling(item: ImportedReflection, ids: Mapping[str, str]) -> object:
    """The evidence; what is missing is named as it was, so that it is missing there as well."""
    evidence = list(dict.fromkeys(ids[ground] for ground in item.evidence if ground in ids))
    if not evidence and item.missing_grounds == ("(nothing is named)",):
        return []
    if not evidence and len(item.missing_grounds) == 1:
        return item.missing_grounds[0]
    lost = [ground for ground in item.evidence if ground not in ids]
    return [*evidence, *item.missing_grounds, *lost]


def _finest(plans: Sequence[ImportedPlan], kinds: Sequence[str]) -> list[ImportedPlan]:
    """The plans of a day, of each stretch of time the first of these kinds that there is."""
    found: list[ImportedPlan] = []
    for kind in kinds:
        for plan in plans:
            if plan.kind == kind and not any(plan.start < other.end and other.start < plan.end for other in found):
                found.append(plan)
    return sorted(found, key=lambda plan: plan.start)


def _schedule(plans: Sequence[ImportedPlan], midnight: datetime) -> list[list[object]]:
    """What, and for how many minutes, from midnight on."""
    entries: list[list[object]] = []
    at, end = midnight, midnight + _DAY
    for plan in plans:
        start, stop = max(plan.start, midnight), min(plan.end, end)
        if start > at:
            entries.append([_NOTHING, round((start - at).total_seconds() / 60)])
        entries.append([plan.text, round((stop - start).total_seconds() / 60)])
        at = stop
    if plans and at < end:
        entries.append([_NOTHING, round((end - at).total_seconds() / 60)])
    return [entry for entry in entries if entry[1]]


def _tree(paths: Iterable[tuple[str, ...]]) -> dict[str, dict[str, dict[str, list[str]]]]:
    """World, sector and arena as objects, the objects of an arena as a list."""
    tree: dict[str, dict[str, dict[str, list[str]]]] = {}
    for path in paths:
        world = tree.setdefault(path[0], {})
        sector = world.setdefault(path[1], {}) if len(path) > 1 else {}
        arena = sector.setdefault(path[2], []) if len(path) > 2 else []
        if len(path) > 3 and path[3] not in arena:
            arena.append(path[3])
    return tree


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1), "utf-8")
