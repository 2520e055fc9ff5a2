"""Saves of the published Generative Agents code: ``reverie/meta.json`` and a folder of ``personas``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation import fields
from graphmem.interfaces.simulation.files import FORMAT, read_object
from graphmem.interfaces.simulation.person import Person, join_heard, origin_of
from graphmem.interfaces.simulation.schedule import day_plan, schedule
from graphmem.models import (
    AgentConfig,
    AgentImport,
    AnyImported,
    ImportedObservation,
    ImportedPlace,
    ImportedPlan,
    ImportedReflection,
    validated,
)

AUTHOR = "author"
"""Who told a person what it knows at the start."""
WRITTEN_BY = "generative-agents"
"""Who inferred what a save holds: which model it was, no file says."""
_TYPES = ("event", "thought", "chat")
_NUMBER = re.compile(r"(\d+)$")
_NO_FIELD = ("type_count", "expiration")
"""Of a node: kept, and read by nobody, as in the code that wrote them."""
_FITS = timedelta(days=183)
"""How far a clock may be after the newest node before its year is taken for another's."""


def is_original(folder: Path) -> bool:
    """Whether a folder is such a save."""
    return (folder / "personas").is_dir()


def read_original(folder: Path, zone: ZoneInfo, prefix: str) -> list[Person]:
    """Read every person of a save, in the order of their names.

    Raises:
        InvalidInput: When a file cannot be read; names it, and the place in it.
    """
    meta = read_object(folder / "reverie" / "meta.json")
    homes = sorted(home for home in (folder / "personas").iterdir() if home.is_dir())
    if not homes:
        raise InvalidInput(f"{folder / 'personas'}: holds nobody", remedy=FORMAT)
    people = [_Reader(home, zone, prefix).read(meta) for home in homes]
    join_heard(people)
    return people


@dataclass
class _Node:
    """One node, and where it stands in the order of the nodes."""

    id: str
    position: int
    values: dict[str, Any]
    time: datetime

    @property
    def type(self) -> str:
        return self.values["type"]


class _Reader:
    """Reads one person."""

    def __init__(self, home: Path, zone: ZoneInfo, prefix: str) -> None:
        self._zone = zone
        memory = home / "bootstrap_memory"
        self._files = {
            "nodes": memory / "associative_memory" / "nodes.json",
            "scratch": memory / "scratch.json",
            "places": memory / "spatial_memory.json",
        }
        self._person = Person(home.name, home, prefix)
        self._nodes: dict[str, _Node] = {}
        self._stored: set[str] = set()

    def read(self, meta: Mapping[str, Any]) -> Person:
        """All of one person."""
        person = self._person
        scratch = read_object(self._files["scratch"])
        if name := fields.label(person, scratch.get("name"), "scratch.json: name"):
            person.name = name
        self._read_nodes(read_object(self._files["nodes"]))
        clock = self._clock(scratch.get("curr_time") or meta.get("curr_time"))
        plan_of_day = self._add_items(clock)
        if clock is not None:
            person.items += schedule(person, scratch, clock, plan_of_day)
        threshold: object = scratch.get("importance_trigger_max")
        left: object = scratch.get("importance_trigger_curr")
        summed: object = scratch.get("importance_ele_n")
        so_far = None
        if isinstance(threshold, int) and isinstance(left, int) and threshold > 0:
            so_far = max(0, threshold - left)  # It is counted down there, and up here.
        config: dict[str, Any] = {
            "name": person.name,
            "traits": fields.traits({name: scratch[name] for name in ("age", *_TRAITS) if scratch.get(name)}),
            "time_zone": self._zone.key,
            "clock": clock,
            "reflection_threshold": threshold if so_far is not None else None,
        }
        places = tuple(self._places(read_object(self._files["places"])))
        rooms = {":".join(place.path) for place in places if len(place.path) == _ROOM}
        person.ready = validated(
            AgentImport,
            {
                "origin": origin_of(self._files.values(), str(meta.get("curr_time")), self._zone.key),
                "config": validated(AgentConfig, config),
                "importance_since_reflection": so_far or 0,
                "observed_since_reflection": summed if isinstance(summed, int) and summed > 0 else 0,
                "file_rest": fields.rest(_others(scratch)),
                "memories": tuple(person.items),
                "places": places,
                "home": _room(scratch.get("living_area"), rooms),
                "place": _room(scratch.get("act_address"), rooms),
            },
        )
        return person

    # --- nodes ---------------------------------------------------------------------------------------------------

    def _read_nodes(self, nodes: Mapping[str, Any]) -> None:
        """Put the nodes in the order of their numbers, which is that in which they came to be."""
        person = self._person
        person.nodes = len(nodes)
        numbers = {node_id: _number(node_id) for node_id in nodes}
        ordered = sorted(nodes, key=lambda node_id: (numbers[node_id] is None, numbers[node_id] or 0, node_id))
        known = {number for number in numbers.values() if number is not None}
        if missing := sorted(set(range(1, max(known, default=0) + 1)) - known):
            for first, last in _spans(missing):
                person.note("gaps", f"{first}" if first == last else f"{first}–{last}")
        previous: datetime | None = None
        for node_id in ordered:
            values: object = nodes[node_id]
            if not isinstance(values, dict) or cast("dict[str, Any]", values).get("type") not in _TYPES:
                person.note("left_out", f"{node_id}: not an event, thought or chat")
                continue
            node = cast("dict[str, Any]", values)
            person.types[node["type"]] += 1
            created = fields.time(node.get("created"), self._zone)
            if created is None:
                person.note("times", node_id)
                created = previous or datetime(1970, 1, 1, tzinfo=self._zone)
            previous = created
            self._nodes[node_id] = _Node(node_id, len(self._nodes), node, created)

    def _clock(self, told: object) -> datetime | None:
        """The simulation's own time, which the nodes may contradict by twenty years."""
        newest = max((node.time for node in self._nodes.values()), default=None)
        clock = fields.clock(told, self._zone)
        if newest is None or (clock is not None and timedelta(0) <= clock - newest <= _FITS):
            return clock
        self._person.note("clock", str(told))
        if clock is not None:
            try:
                clock = clock.replace(year=newest.year)
            except ValueError:  # February 29
                return newest
            if timedelta(0) <= clock - newest <= _FITS:
                return clock
        return newest

    def _add_items(self, clock: datetime | None) -> dict[str, str]:
        """All nodes as memories; returns the id of each day's plan in a sentence, by the day."""
        person = self._person
        plan_of_day: dict[str, str] = {}
        for node in self._nodes.values():
            try:
                items = list(self._items(node, clock))
            except InvalidInput as error:
                person.note("left_out", f"{node.id}: {error}")
                continue
            self._stored.add(node.id)
            person.items += items
            if isinstance(items[0], ImportedPlan):
                plan_of_day.setdefault(f"{node.time:%Y-%m-%d}", node.id)
        return plan_of_day

    def _items(self, node: _Node, clock: datetime | None) -> Iterable[AnyImported]:
        """One node as a memory; a conversation as several."""
        if node.type == "chat":
            yield from self._chat(node)
        elif node.type == "event":
            yield self._event(node)
        elif node.values.get("filling") is not None or _filler(self._person, node.values.get("description")):
            yield self._thought(node)
        elif _is_day_plan(node.values):
            yield day_plan(self._common(node), node.time, clock)
        else:
            self._person.given += 1
            yield validated(ImportedObservation, {**self._common(node), "kind": "fact", "source": AUTHOR})

    def _common(self, node: _Node, **more: object) -> dict[str, Any]:
        values, person = node.values, self._person
        key = values.get("embedding_key")
        kept = {name: values.get(name) for name in _NO_FIELD}
        return {
            "id": node.id,
            "text": values.get("description"),
            "occurred_at": node.time,
            "importance": fields.importance(person, values.get("poignancy"), node.id),
            "subject": fields.label(person, values.get("subject"), node.id),
            "predicate": fields.label(person, values.get("predicate"), node.id),
            "object": fields.label(person, values.get("object"), node.id),
            "keywords": fields.labels(person, values.get("keywords"), node.id),
            "file_rest": fields.rest(
                {**kept, "embedding_key": None if key == values.get("description") else key, **more}
            ),
        }

    def _event(self, node: _Node) -> ImportedObservation:
        filling: object = node.values.get("filling")
        session = None
        more: dict[str, object] = {}
        if filling:
            linked = cast("list[object]", filling)[0] if isinstance(filling, list) else filling
            other = self._nodes.get(linked) if isinstance(linked, str) else None
            if other is not None and other.type == "chat":
                session = other.id
            else:
                self._person.note("conversations", node.id)
                more = {"filling": filling}
        subject: object = node.values.get("subject")
        # A thing is named by its path: where it stands is the path without it.
        path = subject.split(":") if isinstance(subject, str) else []
        place = ":".join(path[:-1]) if len(path) == 4 else None
        return validated(ImportedObservation, {**self._common(node, **more), "session": session, "place": place})

    def _chat(self, node: _Node) -> Iterable[ImportedObservation]:
        """The conversation as the person sums it up, then each utterance; one session."""
        yield validated(ImportedObservation, {**self._common(node), "session": node.id})
        filling: object = node.values.get("filling")
        if not isinstance(filling, list):
            self._person.note("conversations", node.id)
            return
        for number, turn in enumerate(cast("list[object]", filling), start=1):
            match turn:
                case [str(speaker), str(text)]:
                    pass
                case _:
                    self._person.note("conversations", f"{node.id}, turn {number}")
                    continue
            try:
                yield validated(
                    ImportedObservation,
                    {
                        "id": f"{node.id}:{number}",
                        "text": text,
                        "kind": "utterance",
                        # One time for all of it: a millionth of a second each keeps them in their order.
                        "occurred_at": node.time + timedelta(microseconds=number),
                        "source": fields.label(self._person, speaker, f"{node.id}, turn {number}"),
                        "session": node.id,
                    },
                )
            except InvalidInput:
                self._person.note("conversations", f"{node.id}, turn {number}")

    def _thought(self, node: _Node) -> ImportedReflection:
        person = self._person
        filling: object = node.values.get("filling")
        found: list[str] = []
        missing: list[str] = []
        if _filler(person, node.values.get("description")):
            person.note("fillers", node.id)
            missing = [fields.shown(filling)]
        elif not isinstance(filling, list):
            person.note("evidence_type", node.id)
            missing = [fields.shown(filling)]
        elif not filling:
            person.note("no_evidence", node.id)
            missing = ["(nothing is named)"]
        else:
            for evidence in cast("list[object]", filling):
                rule = self._fault(node, evidence)
                if rule is None:
                    found.append(cast("str", evidence))
                else:
                    person.note(rule, f"{node.id} → {fields.shown(evidence)}")
                    missing.append(fields.shown(evidence))
        depth: object = node.values.get("depth")
        return validated(
            ImportedReflection,
            {
                **self._common(node),
                "evidence": tuple(dict.fromkeys(found)),
                "missing_grounds": tuple(missing),
                "file_depth": depth if isinstance(depth, int) and not isinstance(depth, bool) else None,
                "written_by": WRITTEN_BY,
            },
        )

    def _fault(self, node: _Node, evidence: object) -> str | None:
        """The rule by which a ground counts as missing; None where it is one."""
        if not isinstance(evidence, str):
            return "evidence_type"
        other = self._nodes.get(evidence)
        if other is not None and other.position >= node.position:
            return "later"
        return None if evidence in self._stored else "dangling"

    # --- the rest ------------------------------------------------------------------------------------------------

    def _places(self, tree: Mapping[str, Any]) -> Iterable[ImportedPlace]:
        """The tree of places, from the world down, each with when something there was last seen."""
        seen: dict[tuple[str, ...], datetime] = {}
        for node in self._nodes.values():
            subject: object = node.values.get("subject")
            if node.type == "event" and isinstance(subject, str) and ":" in subject:
                path = tuple(subject.split(":"))
                for end in range(1, len(path) + 1):
                    seen[path[:end]] = max(node.time, seen.get(path[:end], node.time))
        return [
            ImportedPlace(path=path, last_seen_at=seen.get(path))
            for path in _paths(tree)
            if all(fields.label(self._person, name, "spatial_memory.json") for name in path)
        ]


_ROOM = 3
"""Parts of the path of a room: ``world:sector:arena``."""


def _room(address: object, rooms: Collection[str]) -> str | None:
    """The room of an address, where the person knows it; the published code also writes ``<waiting> 12 7`` there."""
    room = ":".join(address.split(":")[:_ROOM]) if isinstance(address, str) else None
    return room if room in rooms else None


def _filler(person: Person, text: object) -> bool:
    return isinstance(text, str) and fields.is_filler(text, person.name)


def _is_day_plan(values: Mapping[str, Any]) -> bool:
    """The day's plan in a sentence is filed under "plan" and nothing else; what somebody is said to plan is not."""
    return values.get("predicate") == "plan" and values.get("keywords") == ["plan"]


def _number(node_id: str) -> int | None:
    found = _NUMBER.search(node_id)
    return int(found[1]) if found and len(found[1]) <= 12 else None


def _spans(numbers: list[int]) -> Iterable[tuple[int, int]]:
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _paths(tree: object, above: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    """Every path of a tree whose inner nodes are objects and whose leaves are lists of names."""
    if isinstance(tree, dict):
        for name, below in cast("dict[str, object]", tree).items():
            yield (*above, name)
            yield from _paths(below, (*above, name))
    elif isinstance(tree, list):
        yield from ((*above, name) for name in dict.fromkeys(cast("list[object]", tree)) if isinstance(name, str))


_TRAITS = ("innate", "learned", "currently", "lifestyle")


def _others(scratch: Mapping[str, Any]) -> dict[str, Any]:
    elsewhere = {"name", "age", *_TRAITS, "f_daily_schedule", "f_daily_schedule_hourly_org"}
    return {name: value for name, value in scratch.items() if name not in elsewhere}
