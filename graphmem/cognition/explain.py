"""Explaining: what a memory rests on, down to the observations, with what changed and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from graphmem.clock import as_utc
from graphmem.cognition import past
from graphmem.cognition.engine import Engine, checked_id, fetch, fetch_one
from graphmem.errors import UnknownMemory
from graphmem.graph.records import to_run
from graphmem.graph.store import Row, Transaction
from graphmem.models import Cause, Ground, Provenance, RunInfo, Supersession


async def explain(engine: Engine, agent_id: str, memory_id: str, *, as_of: object = None) -> Provenance:
    """The provenance of one memory, today or as it was at a moment.

    Raises:
        UnknownMemory: When this agent has none of that id, or had none by then.
    """
    memory_id = checked_id(memory_id)
    moment = as_utc(as_of) if as_of is not None else None

    async def work(tx: Transaction) -> Provenance:
        memory = await fetch_one(tx, agent_id, memory_id)
        if moment is not None and memory.recorded_at > moment:
            raise UnknownMemory(
                f"agent {agent_id!r} had no memory {memory_id!r} at {moment.isoformat()}",
                remedy=f"it came to hold it at {memory.recorded_at.isoformat()}",
            )
        return await _provenance(tx, agent_id, [memory_id], moment)

    return await engine.store.read(work)


async def tree(engine: Engine, agent_id: str) -> Provenance:
    """All held reflections of an agent, from those that nothing rests on down to the observations."""

    async def work(tx: Transaction) -> Provenance:
        roots = [row["id"] for row in await tx.run("explain/roots", agentId=agent_id)]
        return await _provenance(tx, agent_id, roots)

    return await engine.store.read(work)


async def _provenance(
    tx: Transaction, agent_id: str, roots: Sequence[str], moment: datetime | None = None
) -> Provenance:
    """Walk down level by level: each memory is asked for once, so diamonds and cycles cost nothing."""
    edges: dict[str, Row] = {}
    seen: set[str] = set(roots)
    level = list(roots)
    while level:
        if moment is None:
            rows = await tx.run("explain/edges", agentId=agent_id, ids=level)
        else:
            rows = await tx.run("past/edges", agentId=agent_id, ids=level, asOf=moment)
            rows = [past.restricted(row, moment) for row in rows]
        for row in rows:
            edges[row["element"]] = row
        found = {end for row in rows for end in (row["source"], row["target"])}
        level = sorted(found - seen)
        seen |= found
    memories = await fetch(tx, agent_id, sorted(seen))
    if moment is not None:
        held = await past.believed(tx, agent_id, sorted(seen), moment)
        memories = {id_: past.as_it_was(memory, held[id_]) for id_, memory in memories.items() if id_ in held}
    runs = await tx.run("explain/runs", agentId=agent_id, ids=sorted(seen))
    return Provenance(
        agent_id=agent_id,
        as_of=moment,
        roots=tuple(roots),
        memories=memories,
        grounds=tuple(sorted((_ground(row) for row in _of(edges, "CITES", "DERIVED_FROM")), key=_in_order)),
        supersessions=tuple(_supersession(row) for row in _of(edges, "SUPERSEDES")),
        causes=tuple(_cause(row) for row in _of(edges, "STALE_BECAUSE")),
        runs={row["id"]: _run(row) for row in runs},
    )


def _of(edges: dict[str, Row], *types: str) -> list[Row]:
    return [row for row in edges.values() if row["type"] in types]


def _known(model: type[BaseModel], properties: dict[str, Any]) -> dict[str, Any]:
    """The properties of a relationship that people are shown; what serves the verbs alone is left out."""
    return {name: value for key, value in properties.items() if (name := to_snake(key)) in model.model_fields}


def _ground(row: Row) -> Ground:
    return Ground(source=row["source"], target=row["target"], type=row["type"], **_known(Ground, row["properties"]))


def _in_order(ground: Ground) -> tuple[str, int, str]:
    return (ground.source, ground.rank, ground.target)


def _supersession(row: Row) -> Supersession:
    return Supersession(newer=row["source"], older=row["target"], **_known(Supersession, row["properties"]))


def _cause(row: Row) -> Cause:
    return Cause(memory=row["source"], because=row["target"], **_known(Cause, row["properties"]))


def _run(row: Row) -> RunInfo:
    return to_run(row["run"])
