"""Agents in the later format of the same authors: a folder each, with ``memory_stream/nodes.json``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation import fields
from graphmem.interfaces.simulation.files import read_list, read_object
from graphmem.interfaces.simulation.person import Person, origin_of
from graphmem.models import (
    AgentConfig,
    AgentImport,
    AnyImported,
    ImportedObservation,
    ImportedReflection,
    validated,
)

BEGINNING = datetime(2000, 1, 1)  # noqa: DTZ001 - read in the zone that is given
"""When step 0 was: the files count steps and name no time."""
STEP = timedelta(hours=1)
"""How long a step is: recency falls by about as much in one, 1 % there and half a percent an hour here."""
WRITTEN_BY = "genagents"
_HIGHEST = 100


def is_stream(folder: Path) -> bool:
    """Whether a folder is such an agent."""
    return (folder / "memory_stream" / "nodes.json").is_file()


def streams_in(folder: Path) -> list[Path]:
    """The folder itself, or the agents in it."""
    return [folder] if is_stream(folder) else sorted(path for path in folder.iterdir() if is_stream(path))


def read_stream(folder: Path, zone: ZoneInfo, prefix: str) -> Person:
    """Read one agent.

    Raises:
        InvalidInput: When a file cannot be read; names it, and the place in it.
    """
    files = {name: folder / name for name in ("memory_stream/nodes.json", "scratch.json", "meta.json")}
    scratch = read_object(files["scratch.json"])
    nodes = read_list(files["memory_stream/nodes.json"])
    meta = read_object(files["meta.json"]) if files["meta.json"].is_file() else {}
    full = " ".join(str(scratch[name]) for name in ("first_name", "last_name") if scratch.get(name))
    person = Person(full.strip() or folder.name, folder, prefix, nodes=len(nodes))
    steps = [0]
    positions: dict[object, int] = {}
    for position, node in enumerate(nodes):
        where = f"nodes[{position}]"
        try:
            item, step = _item(person, node, where, positions, steps[-1], zone)
        except InvalidInput as error:
            person.note("left_out", f"{where}: {error}")
            continue
        steps.append(step)
        positions[cast("dict[str, Any]", node)["node_id"]] = position
        person.items.append(item)
    numbers = {number for number in positions if isinstance(number, int)}
    for number in sorted(set(range(max(numbers, default=-1) + 1)) - numbers):
        person.note("gaps", str(number))
    person.ready = validated(
        AgentImport,
        {
            "origin": origin_of(files.values(), zone.key),
            "config": validated(
                AgentConfig,
                {
                    "name": person.name,
                    "traits": fields.traits({name: value for name, value in scratch.items() if value}),
                    "time_zone": zone.key,
                    "clock": _when(max(steps), zone),
                },
            ),
            "file_rest": fields.rest({"meta": meta} if meta else {}),
            "memories": tuple(person.items),
        },
    )
    return person


def _when(step: int, zone: ZoneInfo) -> datetime:
    return BEGINNING.replace(tzinfo=zone) + step * STEP


def _item(
    person: Person, node: object, where: str, positions: Mapping[object, int], previous: int, zone: ZoneInfo
) -> tuple[AnyImported, int]:
    """One node as a memory, and its step."""
    if not isinstance(node, dict):
        raise InvalidInput("is not an object")
    values = cast("dict[str, Any]", node)
    number = values.get("node_id")
    kind = values.get("node_type")
    if isinstance(number, bool) or not isinstance(number, int) or number in positions:
        raise InvalidInput(f"node_id: {fields.shown(number)} is no number, or not the first of its kind")
    if kind not in ("observation", "reflection"):
        raise InvalidInput(f"node_type: {fields.shown(kind)} is neither observation nor reflection")
    person.types[kind] += 1
    step: object = values.get("created")
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step < 10_000_000:
        person.note("times", where)
        step = previous
    common: dict[str, Any] = {
        "id": f"node_{number}",
        "text": values.get("content"),
        "occurred_at": _when(step, zone),
        "importance": fields.importance(person, values.get("importance"), where, highest=_HIGHEST),
        "file_rest": fields.rest({"last_retrieved": values.get("last_retrieved"), "importance": values["importance"]})
        if "importance" in values
        else None,
    }
    if kind == "observation":
        return validated(ImportedObservation, common), step
    found, missing = _evidence(person, values, where, positions)
    given = {**common, "evidence": found, "missing_grounds": missing, "written_by": WRITTEN_BY}
    return validated(ImportedReflection, given), step


def _evidence(
    person: Person, values: Mapping[str, Any], where: str, positions: Mapping[object, int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pointers: object = values.get("pointer_id")
    text: object = values.get("content")
    if isinstance(text, str) and fields.is_filler(text, person.name):
        person.note("fillers", where)
        return (), (fields.shown(pointers),)
    if pointers is None or pointers == []:
        person.note("no_evidence", where)
        return (), ("(nothing is named)",)
    if not isinstance(pointers, list):
        person.note("evidence_type", where)
        return (), (fields.shown(pointers),)
    found: list[str] = []
    missing: list[str] = []
    for pointer in cast("list[object]", pointers):
        if isinstance(pointer, bool) or not isinstance(pointer, int):
            person.note("evidence_type", f"{where} → {fields.shown(pointer)}")
        elif pointer in positions:
            found.append(f"node_{pointer}")
            continue
        else:
            person.note("dangling", f"{where} → {pointer}")
        missing.append(fields.shown(pointer))
    return tuple(dict.fromkeys(found)), tuple(missing)
