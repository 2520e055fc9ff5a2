"""Importing a memory from elsewhere: ids, times, ratings and citations are kept, depth and status are our own.

Each batch is one transaction that leaves every rule in force, so that an import may be cut off anywhere and run again.
What cannot be found of a reflection's grounds counts as ended: the reflection is stale, and so is all above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from graphmem.clock import system_now
from graphmem.cognition import truth
from graphmem.cognition.engine import Engine, create_agent
from graphmem.cognition.grounding import rate
from graphmem.cognition.look_up import agent_properties
from graphmem.cognition.texts import derived, spoken
from graphmem.embedding.base import Vectors
from graphmem.errors import AgentNotEmpty, IdConflict, InvalidInput, StoreInconsistent
from graphmem.graph.records import digest
from graphmem.graph.store import Row, Transaction
from graphmem.models import (
    AgentImport,
    AnyImported,
    Heard,
    ImportanceBy,
    Imported,
    ImportedObservation,
    ImportedPlan,
    ImportedReflection,
    validated,
)

BATCH = 200
"""Memories per transaction: few enough that the bar moves while their texts are embedded."""
_FIELDS = (
    *("id", "text", "kind", "source", "session", "place", "subject", "predicate", "object"),
    *("start", "end", "state"),
)
"""What of an item is a property of the same name."""


async def import_memories(
    engine: Engine, agent_id: str, given: AgentImport, *, progress: Callable[[int], None] | None = None
) -> Imported:
    """Store what an agent remembers elsewhere; again the same adds nothing, after a break it goes on.

    Args:
        engine: The open store with its models.
        agent_id: Whose memory it becomes; a new agent, or one that an earlier import from the same origin made.
        given: What is imported.
        progress: Called with how many memories are stored.

    Raises:
        InvalidInput: When a value is refused; nothing was written.
        AgentNotEmpty: When the agent remembers something from elsewhere; nothing was written.
        IdConflict: When an id is taken by other content; earlier batches are stored.
    """
    if not isinstance(given, AgentImport):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise InvalidInput(f"an AgentImport is needed, not {type(cast(object, given)).__name__}")
    given = validated(AgentImport, given.model_dump(warnings=False))
    imported_at = await engine.store.write(lambda tx: _begin(tx, agent_id, given))
    depths = _depths(given.memories)
    added = citations = done = 0
    not_embedded: list[str] = []
    for start in range(0, len(given.memories), BATCH):
        batch = _Batch(engine, agent_id, given.memories[start : start + BATCH], depths, imported_at)
        new, cited, failed = await batch.store(given.config.clock)
        added += new
        citations += cited
        not_embedded += failed
        done += len(batch.items)
        if progress:
            progress(done)
    heard = await engine.store.write(lambda tx: _join_heard(tx, agent_id, given.heard)) if given.heard else 0
    return Imported(
        heard=heard,
        added=added,
        known=len(given.memories) - added,
        citations=citations,
        not_embedded=tuple(not_embedded),
        clock=given.config.clock,
    )


async def _begin(tx: Transaction, agent_id: str, given: AgentImport) -> datetime:
    """Make the agent, or find the one that is half imported; returns when that began."""
    await create_agent(tx, agent_id)
    state = await tx.one("import/state", agentId=agent_id)
    assert state is not None  # The agent was locked, so it is there.
    if state["origin"] == given.origin:
        return state["importedAt"]
    if state["origin"] is not None:
        raise AgentNotEmpty(
            f"agent {agent_id!r} was imported from something else", remedy="import under another id, e.g. with a prefix"
        )
    if state["held"] or state["revision"]:
        raise AgentNotEmpty(
            f"agent {agent_id!r} remembers something already that was not imported",
            remedy="import under another id, e.g. with a prefix",
        )
    now = system_now()
    await tx.run(
        "import/begin",
        agentId=agent_id,
        properties=agent_properties(given.config)
        | {"home": given.home, "place": given.place, "placeSince": given.config.clock if given.place else None},
        importance=given.importance_since_reflection,
        observed=given.observed_since_reflection,
        origin=given.origin,
        importedAt=now,
        fileRest=given.file_rest,
    )
    rows: list[Row] = [
        {
            "path": ":".join(place.path),
            "name": place.path[-1],
            "parent": ":".join(place.path[:-1]) or None,
            "lastSeenAt": place.last_seen_at,
        }
        for place in given.places
    ]
    await tx.run("import/places", agentId=agent_id, rows=rows)
    return now


async def _join_heard(tx: Transaction, agent_id: str, heard: Sequence[Heard]) -> int:
    """Join what was heard with what was said; agents are locked in the order of their ids, as everywhere."""
    for other in sorted({agent_id, *(item.agent_id for item in heard)}):
        await tx.one("agent/lock", agentId=other)
    rows: list[Row] = [{"id": item.id, "agentId": item.agent_id, "memoryId": item.memory_id} for item in heard]
    row = await tx.one("import/heard", agentId=agent_id, rows=rows)
    assert row is not None  # It aggregates without a grouping key.
    return row["joined"]


def _depths(items: Sequence[AnyImported]) -> dict[str, int]:
    """1 + the deepest ground for reflections, 0 for the rest; grounds come before what rests on them."""
    depths: dict[str, int] = {}
    for item in items:
        inferred = isinstance(item, ImportedReflection)
        depths[item.id] = 1 + max((depths[ground] for ground in item.evidence), default=0) if inferred else 0
    return depths


class _Batch:
    """Memories that are stored in one transaction."""

    def __init__(
        self,
        engine: Engine,
        agent_id: str,
        items: Sequence[AnyImported],
        depths: Mapping[str, int],
        imported_at: datetime,
    ) -> None:
        self.engine = engine
        self.agent_id = agent_id
        self.items = items
        self._ids = [item.id for item in items]
        self._depths = depths
        self._imported_at = imported_at

    async def store(self, now: datetime | None) -> tuple[int, int, list[str]]:
        """Rate and embed what is not there, then write it; returns how many, with how many citations, and not embedded.

        Raises:
            IdConflict: When an id is taken by other content; nothing of the batch was written.
        """
        # What is stored already need not be embedded again; the transaction decides for good.
        known = self._known(await self.engine.store.query("observe/known", agentId=self.agent_id, ids=self._ids))
        fresh = [item for item in self.items if item.id not in known]
        rows = await self._rows(fresh)

        async def work(tx: Transaction) -> tuple[int, int]:
            await create_agent(tx, self.agent_id)
            known = self._known(await tx.run("observe/known", agentId=self.agent_id, ids=self._ids))
            new = [(item, row) for item, row in zip(fresh, rows, strict=True) if item.id not in known]
            return len(new), await self._write(tx, new, now) if new else 0

        added, citations = await self.engine.store.write(work)
        return added, citations, [row["properties"]["id"] for row in rows if row["embedding"] is None]

    def _known(self, rows: Sequence[Row]) -> set[str]:
        hashes = {row["id"]: row["contentHash"] for row in rows}
        taken = [
            (position, item.id)
            for position, item in enumerate(self.items)
            if hashes.get(item.id, wanted := _content_hash(item)) != wanted
        ]
        if taken:
            raise IdConflict(
                f"agent {self.agent_id!r} has other content under the id {taken[0][1]!r}",
                ids=tuple(id_ for _, id_ in taken),
                positions=tuple(position for position, _ in taken),
                remedy="import under another id, e.g. with a prefix",
            )
        return set(hashes)

    async def _rows(self, items: Sequence[AnyImported]) -> list[Row]:
        """All that needs a model, outside any transaction. One text recurs many times and is embedded once."""
        if not items:
            return []
        texts = [spoken(item.text, _source(item)) for item in items]
        distinct = list(dict.fromkeys(texts))
        vectors = dict(zip(distinct, await self.engine.embed_documents(distinct), strict=True))
        unrated = [text for item, text in zip(items, texts, strict=True) if item.importance is None]
        ratings = iter(await rate(self.engine, unrated, None))
        return [
            self._row(item, vectors[text], *((item.importance, "caller") if item.importance else next(ratings)))
            for item, text in zip(items, texts, strict=True)
        ]

    def _row(self, item: AnyImported, vector: Vectors | None, importance: int, by: ImportanceBy) -> Row:
        text, time = item.text, item.occurred_at
        properties: dict[str, Any] = {name: getattr(item, name, None) for name in _FIELDS}
        properties |= {
            "keywords": list(item.keywords),
            "status": "active",
            "held": True,
            "depth": self._depths[item.id],
            "importance": importance,
            "importanceBy": by,
            "occurredAt": time,
            "recordedAt": time,
            "lastAccessedAt": time,
            "importedAt": self._imported_at,
            "fileRest": item.file_rest,
            "contentHash": _content_hash(item),
            **derived(self.engine, self.agent_id, text, _source(item), time, embedded=vector is not None),
        }
        if isinstance(item, ImportedReflection):
            properties |= {
                "kind": "insight",
                "writtenBy": item.written_by,
                "fileDepth": item.file_depth,
                "missingGrounds": len(item.missing_grounds) or None,
                "missingGroundIds": list(item.missing_grounds) or None,
            }
        return {"properties": properties, "embedding": vector}

    async def _write(self, tx: Transaction, new: Sequence[tuple[AnyImported, Row]], now: datetime | None) -> int:
        """Write what is new with its edges, and restore the rules above it; returns how many citations."""
        agent_id = self.agent_id
        statements = {
            "observation": "observe/create",
            "reflection": "import/reflections",
            "plan": "import/plans",
        }
        for kind, statement in statements.items():
            rows = [row for item, row in new if item.type == kind]
            told = {"recordedAt": None} if kind == "observation" else {}  # Each row says when.
            _expect(await tx.one(statement, agentId=agent_id, rows=rows, **told), len(rows), "memories")
        await tx.run("entity/link", agentId=agent_id, ids=[item.id for item, _ in new])
        observed = [row["properties"]["importance"] for item, row in new if item.type == "observation"]
        await tx.run(
            "import/count_in", agentId=agent_id, count=len(new), observed=len(observed), importance=sum(observed)
        )
        items = [item for item, _ in new]
        cites: list[Row] = [
            {"source": item.id, "target": ground, "rank": rank, "since": item.occurred_at}
            for item in items
            if isinstance(item, ImportedReflection)
            for rank, ground in enumerate(item.evidence, start=1)
        ]
        _expect(await tx.one("import/cite", agentId=agent_id, rows=cites), len(cites), "citations")
        parts: list[Row] = [
            {"source": item.id, "target": parent, "since": item.occurred_at, "until": _over(item)}
            for item in items
            if isinstance(item, ImportedPlan)
            for parent in item.parents
        ]
        _expect(await tx.one("import/derive", agentId=agent_id, rows=parts), len(parts), "parts of plans")
        if derived_ids := [item.id for item in items if item.type != "observation"]:
            revision = await truth.begin(tx, agent_id, now or self._imported_at)
            await truth.relabel(tx, revision, derived_ids)
        return len(cites)


def _source(item: AnyImported) -> str | None:
    return item.source if isinstance(item, ImportedObservation) else None


def _over(plan: ImportedPlan) -> datetime | None:
    return plan.end if plan.state in ("done", "missed", "dropped") else None


def _content_hash(item: AnyImported) -> str:
    return digest(item.model_dump_json(exclude_defaults=True))


def _expect(row: Row | None, wanted: int, what: str) -> None:
    if row is None or row["created"] != wanted:
        raise StoreInconsistent(f"{wanted} {what} were to be written, not {row['created'] if row else None}")
