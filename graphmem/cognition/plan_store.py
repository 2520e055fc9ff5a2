"""Plans in the graph: read with what they are a part of, written with what they rest on, ended and finished.

Each write runs inside the caller's transaction, under the agent's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from graphmem.cognition import truth
from graphmem.cognition.engine import Engine, fetch, lock, new_id
from graphmem.cognition.texts import derived
from graphmem.embedding.base import Vectors
from graphmem.errors import StoreInconsistent
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.models import ImportanceBy, Plan

LONGEST = timedelta(hours=49)
"""No plan lasts longer: a day of 25 hours, a night after it, and what an import may bring."""
Grain = Literal["day", "hour", "step"]
_ORDER: dict[str, int] = {"day": 0, "hour": 1, "step": 2}


@dataclass(frozen=True)
class Planned:
    """A plan with its place in the tree."""

    plan: Plan
    parent: str | None
    """The plan that it is a part of."""
    parts: int
    """How many held plans are a part of it."""

    @property
    def rank(self) -> tuple[datetime, int, str]:
        """Sorts plans by when they begin, the coarser first."""
        return self.plan.start, _ORDER[self.plan.kind], self.plan.id


def planned(row: Row) -> Planned:
    """A row of ``plan/between`` or ``plan/at``."""
    plan = to_memory(row)
    assert isinstance(plan, Plan)
    return Planned(plan, row["parent"], row["parts"])


async def between(tx: Transaction, agent_id: str, start: datetime, end: datetime) -> list[Planned]:
    """Held plans that reach into a span, by when they begin, the coarser first."""
    rows = await tx.run("plan/between", agentId=agent_id, since=start - LONGEST, until=end, **{"from": start})
    return sorted(map(planned, rows), key=lambda entry: entry.rank)


async def read_between(engine: Engine, agent_id: str, start: datetime, end: datetime) -> list[Planned]:
    """:func:`between` in a transaction of its own."""
    return await engine.store.read(lambda tx: between(tx, agent_id, start, end))


@dataclass(frozen=True)
class Draft:
    """A plan that is ready to be written."""

    text: str
    grain: Grain
    start: datetime
    end: datetime
    place: str | None
    importance: int
    importance_by: ImportanceBy
    day: str
    time_zone: str
    parent: str | None = None
    grounds: tuple[str, ...] = ()
    """The memories that are its reasons, in the order in which they were named."""
    vector: Vectors | None = None
    id: str = ""


async def embedded(engine: Engine, drafts: Sequence[Draft]) -> list[Draft]:
    """Give drafts their ids and vectors; equal texts are embedded once."""
    texts = list(dict.fromkeys(draft.text for draft in drafts))
    vectors = dict(zip(texts, await engine.embed_documents(texts), strict=True))
    return [replace(draft, id=new_id(), vector=vectors[draft.text]) for draft in drafts]


async def write(
    tx: Transaction, engine: Engine, agent_id: str, drafts: Sequence[Draft], now: datetime, *, run_id: str | None
) -> None:
    """Create plans with what they rest on; the caller relabels.

    Raises:
        StoreInconsistent: When not everything that they rest on is there; nothing is kept.
    """
    rows: list[Row] = [
        {"properties": _properties(engine, agent_id, draft, now), "embedding": draft.vector} for draft in drafts
    ]
    created = await tx.one("plan/create", agentId=agent_id, rows=rows, runId=run_id)
    edges: list[Row] = []
    for draft in drafts:
        if draft.parent is not None:
            edges.append({"source": draft.id, "target": draft.parent, "part": True, "rank": None})
        edges += [
            {"source": draft.id, "target": ground, "part": None, "rank": rank}
            for rank, ground in enumerate(draft.grounds, start=1)
        ]
    joined = await tx.one("plan/derive", agentId=agent_id, rows=edges, now=now)
    if created is None or created["created"] != len(rows) or joined is None or joined["created"] != len(edges):
        raise StoreInconsistent(f"{len(rows)} plans with {len(edges)} grounds were to be written; some are not there")


def _properties(engine: Engine, agent_id: str, draft: Draft, now: datetime) -> Row:
    return {
        "id": draft.id,
        "text": draft.text,
        "kind": draft.grain,
        "start": draft.start,
        "end": draft.end,
        "place": draft.place,
        "state": "planned",
        "day": draft.day,
        "timeZone": draft.time_zone,
        "status": "active",
        "held": True,
        "depth": 0,
        "importance": draft.importance,
        "importanceBy": draft.importance_by,
        "occurredAt": now,
        "recordedAt": now,
        "lastAccessedAt": now,
        "keywords": [],
        # By word it is found under the date that it is for.
        **derived(engine, agent_id, draft.text, None, draft.start.astimezone(UTC), embedded=draft.vector is not None),
    }


async def release(tx: Transaction, revision: truth.Revision, ids: Sequence[str]) -> None:
    """What is over is history: these plans rest on nothing any more."""
    await tx.run("plan/release", agentId=revision.agent_id, ids=list(ids), now=revision.now)


async def fetch_plans(tx: Transaction, agent_id: str, ids: Sequence[str]) -> tuple[Plan, ...]:
    """These plans as they stand, in the order of the ids."""
    found = await fetch(tx, agent_id, ids)
    return tuple(memory for id_ in ids if isinstance(memory := found.get(id_), Plan))


async def mark(
    engine: Engine, agent_id: str, ids: Sequence[str], *, active: bool = False, undivided: bool = False
) -> None:
    """Note on unfinished plans that they are being carried out, or that they could not be divided."""

    async def work(tx: Transaction) -> None:
        await lock(tx, agent_id)
        await tx.run(
            "plan/mark",
            agentId=agent_id,
            ids=list(ids),
            state="active" if active else None,
            undivided=True if undivided else None,
        )

    await engine.store.write(work)
