"""Exporting a memory: what an agent holds, in the form in which ``import_memories`` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem.cognition.engine import Engine, unknown_agent
from graphmem.graph.store import Row
from graphmem.models import (
    AgentConfig,
    AgentImport,
    AnyImported,
    Heard,
    ImportedObservation,
    ImportedPlace,
    ImportedPlan,
    ImportedReflection,
    grounds_of,
    validated,
)

_PAGE = 500
_COMMON = {
    "id": "id",
    "text": "text",
    "occurred_at": "occurredAt",
    "subject": "subject",
    "predicate": "predicate",
    "object": "object",
    "file_rest": "fileRest",
}


async def export_memories(engine: Engine, agent_id: str) -> AgentImport:
    """What an agent holds, each after what it rests on; what ended is left out, and a missing ground of what cites it.

    Raises:
        UnknownAgent: When nothing was ever written for it.
    """
    rows = await engine.store.query("save/agent", agentId=agent_id)
    if not rows:
        raise unknown_agent(agent_id)
    agent: dict[str, Any] = rows[0]["agent"]
    memories = await _memories(engine, agent_id)
    held = {row["memory"]["id"] for row in memories}
    items = _in_order([_item(row, held) for row in memories])
    known = await engine.store.query("place/known", agentId=agent_id)
    places = tuple(
        ImportedPlace(path=tuple(row["place"]["path"].split(":")), last_seen_at=row["place"].get("lastSeenAt"))
        for row in known
    )
    rooms = {":".join(place.path) for place in places}
    every = agent.get("reflectionEvery")
    config = AgentConfig(
        name=agent["name"],
        traits=agent.get("traits"),
        time_zone=agent["timeZone"],
        clock=agent.get("clock"),
        reflection_threshold=agent["reflectionThreshold"] if every is None else None,
        reflection_every=every,
    )
    return validated(
        AgentImport,
        {
            "origin": agent.get("importedFrom") or f"graphmem:{agent_id}",
            "config": config,
            "importance_since_reflection": agent["importanceSinceReflection"],
            "observed_since_reflection": agent.get("observedSinceReflection") or 0,
            "file_rest": agent.get("fileRest"),
            "home": home if (home := agent.get("home")) in rooms else None,
            "place": place if (place := agent.get("place")) in rooms else None,
            "memories": items,
            "places": places,
            "heard": tuple(
                Heard(id=row["memory"]["id"], agent_id=pair[0], memory_id=pair[1])
                for row in memories
                for pair in row["heard"]
            ),
        },
    )


async def _memories(engine: Engine, agent_id: str) -> list[Row]:
    found: list[Row] = []
    after = ""
    while True:
        rows = await engine.store.query("save/memories", agentId=agent_id, after=after, limit=_PAGE)
        # Not what ended between being found and being read.
        found += [row for row in rows if row["memory"]["held"]]
        if len(rows) < _PAGE:
            return found
        after = max(row["memory"]["id"] for row in rows)


def _item(row: Row, held: set[str]) -> AnyImported:
    memory: Mapping[str, Any] = row["memory"]
    given: dict[str, Any] = {name: memory.get(key) for name, key in _COMMON.items()}
    given["keywords"] = tuple(memory.get("keywords") or ())
    # A rating by rule is made again where it is imported.
    given["importance"] = memory["importance"] if memory["importanceBy"] in ("caller", "model") else None
    if "Reflection" in row["labels"]:
        cited = [cite["id"] for cite in sorted(row["cites"], key=lambda cite: (cite["rank"] or 0, cite["id"]))]
        return ImportedReflection(
            **given,
            evidence=tuple(id_ for id_ in dict.fromkeys(cited) if id_ in held),
            missing_grounds=(*(memory.get("missingGroundIds") or ()), *(id_ for id_ in cited if id_ not in held)),
            file_depth=memory.get("fileDepth"),
            written_by=memory["writtenBy"],
        )
    if "Plan" in row["labels"]:
        return ImportedPlan(
            **given,
            kind=memory["kind"],
            start=memory["start"],
            end=memory["end"],
            place=memory.get("place"),
            state=memory["state"],
            parents=tuple(id_ for id_ in dict.fromkeys(row["parents"]) if id_ in held),
        )
    return ImportedObservation(
        **given,
        kind=memory["kind"],
        source=memory.get("source"),
        session=memory.get("session"),
        place=memory.get("place"),
    )


def _in_order(items: list[AnyImported]) -> tuple[AnyImported, ...]:
    """By when they happened, and each after what it rests on."""
    by_id = {item.id: item for item in sorted(items, key=lambda item: (item.occurred_at, item.id))}
    placed: dict[str, AnyImported] = {}
    for first in by_id.values():
        stack = [first]
        while stack:
            item = stack[-1]
            waiting = [by_id[ground] for ground in grounds_of(item) if ground not in placed]
            if waiting:
                stack += waiting
                continue
            placed.setdefault(stack.pop().id, item)
    return tuple(placed.values())
