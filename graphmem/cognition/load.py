"""Importing agents from an export: the whole file is checked first, then stored in batches that can be gone on with.

What a file says is stored as it stands there, so that it is held against the shapes of what the verbs write first, and
each agent against all rules at the end. Each batch notes the line that it reached in its own transaction: cut off
anywhere, the same file again goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphmem.clock import system_now
from graphmem.cognition.checks import check
from graphmem.cognition.engine import Engine, create_agent
from graphmem.cognition.loadable import HEARD, JOINS, Checked, checked
from graphmem.errors import AgentNotEmpty, InvalidInput, StoreInconsistent
from graphmem.graph import exported
from graphmem.graph.exported import Line
from graphmem.graph.records import scope_token
from graphmem.graph.store import Row, Transaction
from graphmem.models.exports import GraphImported

BATCH = 500
"""Lines a transaction."""
_NOT_HERE = frozenset({"id", "workToken", "workUntil"})
"""Of an agent, what is given here, and that somebody works for it there."""


async def import_graph(
    engine: Engine, file: Path, *, prefix: str = "", progress: Callable[[int], None] | None = None
) -> GraphImported:
    """Store all agents of an export as they were, under their ids or with a prefix before them.

    Args:
        engine: The open store; vectors of another model than its own are left out, and made by ``work``.
        file: What ``export_graph`` wrote.
        prefix: Put before each agent's id.
        progress: Told how many lines are read of those to be stored.

    Raises:
        InvalidInput: When the file cannot be read, is of an unknown version, damaged or cut short; the line is named,
            and nothing was written.
        AgentNotEmpty: When one of the agents remembers something already; nothing was written.
    """
    try:
        found = checked(file, prefix, engine.embedder)
        for agent_id in found.agents.values():
            await engine.store.read(lambda tx, id_=agent_id: _state(tx, id_, found.digest))
        loader = _Loader(engine, found, progress or (lambda lines: None))
        for batch in _batches(file):
            await loader.store(batch)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", remedy="check the name of the file") from error
    violations = 0
    for agent_id in found.agents.values():
        if agent_id not in loader.known:
            violations += len(await check(engine, agent_id))
    return loader.report(violations)


# --- storing it -------------------------------------------------------------------------------------------------


@dataclass
class _Batch:
    """Lines that are stored in one transaction, all of one agent; or what agents heard, with the agent of the line."""

    agent: str
    lines: list[Line]
    last: bool = False
    """Whether the agent is whole with these."""


def _batches(file: Path) -> Iterator[_Batch]:
    """The lines again, agent by agent; the first of an agent's is the agent itself."""
    agent = ""
    waiting: list[Line] = []
    heard: dict[str, list[Line]] = {}
    with file.open("rb") as stream:
        for line in exported.read(stream):
            if line.kind == "head":
                continue
            if line.kind == "relationship" and line.name() == HEARD:
                heard.setdefault(line.text("agent"), []).append(line)
                continue
            if line.kind in ("agent", "end"):
                if agent:
                    yield _Batch(agent, waiting, last=True)
                waiting = []
                if line.kind == "end":
                    break
                agent = line.text("id")
            elif len(waiting) == BATCH:
                yield _Batch(agent, waiting)
                waiting = []
            waiting.append(line)
    for listener, lines in heard.items():
        for start in range(0, len(lines), BATCH):
            yield _Batch(listener, lines[start : start + BATCH])


async def _state(tx: Transaction, agent_id: str, digest: str) -> int | None:
    """The last line of the file that is stored of an agent, 0: none; None: it is done.

    Raises:
        AgentNotEmpty: When it remembers something that is not of this file.
    """
    state = await tx.one("load/state", agentId=agent_id)
    if state is None:
        return 0
    if state["origin"] == digest:
        return state["line"]
    if state["origin"] is not None or state["taken"]:
        raise AgentNotEmpty(
            f"agent {agent_id!r} remembers something already that is not of this file",
            remedy="import under another id with --prefix, or forget that agent first",
        )
    return 0


class _Loader:
    def __init__(self, engine: Engine, found: Checked, progress: Callable[[int], None]) -> None:
        self._engine = engine
        self._checked = found
        self._progress = progress
        self._at = system_now()
        self._stored: dict[str, int] = {}
        self._not_embedded = 0
        self._not_joined = 0
        self._touched: set[str] = set()

    @property
    def known(self) -> tuple[str, ...]:
        """Agents that were done before."""
        return tuple(id_ for id_ in self._checked.agents.values() if id_ not in self._touched)

    def report(self, violations: int) -> GraphImported:
        count = self._stored.get
        return GraphImported(
            agents=tuple(self._checked.agents.values()),
            known=self.known,
            memories=count("memory", 0),
            runs=count("run", 0),
            changes=count("change", 0),
            places=count("place", 0),
            relationships=count("relationship", 0),
            not_embedded=self._not_embedded,
            not_joined=self._not_joined,
            violations=violations,
        )

    async def store(self, batch: _Batch) -> None:
        agent_id = self._checked.agents[batch.agent]
        if batch.lines and batch.lines[0].kind == "relationship" and batch.lines[0].name() == HEARD:
            await self._hear(agent_id, batch.lines)
        else:
            await self._nodes(agent_id, batch)
        if batch.lines:
            self._progress(batch.lines[-1].number)

    async def _nodes(self, agent_id: str, batch: _Batch) -> None:
        rows = [(line, self._row(line)) for line in batch.lines if line.kind != "agent"]
        head = next((line for line in batch.lines if line.kind == "agent"), None)

        async def work(tx: Transaction) -> list[Line] | None:
            await create_agent(tx, agent_id)
            reached = await _state(tx, agent_id, self._checked.digest)
            if reached is None:
                return None
            if head is not None and reached < head.number:
                await tx.run(
                    "load/begin",
                    agentId=agent_id,
                    properties={name: value for name, value in head.properties().items() if name not in _NOT_HERE},
                    origin=self._checked.digest,
                    now=self._at,
                    line=head.number,
                )
            new = [(line, row) for line, row in rows if line.number > reached]
            await self._write(tx, agent_id, new)
            # A batch that is stored already must not move the mark back: the next one would be stored again.
            line = None if batch.last else max(reached, batch.lines[-1].number)
            await tx.run("load/reached", agentId=agent_id, line=line)
            return [line for line, _ in new]

        stored = await self._engine.store.write(work)
        if stored is None:
            return
        self._touched.add(agent_id)
        for line in stored:
            self._stored[line.kind] = self._stored.get(line.kind, 0) + 1
        numbers = {line.number for line in stored}
        self._not_embedded += sum(
            line.kind == "memory" and row["properties"].get("notEmbedded", False)
            for line, row in rows
            if line.number in numbers
        )

    def _row(self, line: Line) -> Row:
        properties = line.properties()
        if line.kind == "relationship":
            start, end = line.reference("from"), line.reference("to")
            source: Any = [int(part) for part in start[1].split(".")] if start[0] == "change" else start[1]
            return {
                "join": JOINS[start[0], end[0]],
                "row": {"name": line.name(), "source": source, "target": end[1], "properties": properties},
                "properties": properties,
            }
        row: Row = {"properties": properties}
        if "leaseUntil" in properties:
            # Whoever worked on it there does not here: as if its process had died.
            properties["leaseUntil"] = min(properties["leaseUntil"], self._at)
        if line.kind == "memory":
            row |= {
                "labels": line.labels(),
                "held": properties["held"] is True,
                "embedding": self._vector(line, properties),
            }
        return row

    def _vector(self, line: Line, properties: Row) -> Any:
        """The vector where it is this store's model's; else the memory is one that is still to be embedded."""
        embedder = self._engine.embedder
        vector = line.vector()
        if vector is not None and properties.get("embeddingModel") == embedder.name:
            return vector
        if properties["text"] and properties.get("embeddingModel"):
            properties |= {"embeddingModel": None, "embeddingTruncated": False, "notEmbedded": True}
            properties |= {"embeddingAttempts": None, "nextEmbeddingAt": None}
        return None

    async def _write(self, tx: Transaction, agent_id: str, new: Sequence[tuple[Line, Row]]) -> None:
        rows: dict[str, list[Row]] = {}
        for line, row in new:
            if line.kind == "relationship":
                rows.setdefault(row["join"], []).append(row["row"])
            else:
                rows.setdefault(_STATEMENTS[line.kind], []).append(row)
        for statement, given in rows.items():
            more = {"scopeToken": scope_token(agent_id)} if statement == "load/memories" else {}
            created = await tx.one(statement, agentId=agent_id, rows=given, **more)
            if created is None or created["created"] != len(given):
                raise StoreInconsistent(f"{statement}: {len(given)} were to be written, not {created}")
        ids = [row["properties"]["id"] for row in rows.get("load/memories", ())]
        if ids:
            await tx.run("entity/link", agentId=agent_id, ids=ids)

    async def _hear(self, agent_id: str, lines: Sequence[Line]) -> None:
        """Join what was heard; doing it again changes nothing."""
        rows: list[Row] = []
        for line in lines:
            _, end, other = line.reference("to")
            rows.append(
                {
                    "source": line.reference("from")[1],
                    "agent": self._checked.agents.get(other, other),
                    "target": end,
                    "properties": line.properties(),
                }
            )

        async def work(tx: Transaction) -> int:
            for id_ in sorted({agent_id, *(row["agent"] for row in rows)}):
                await tx.one("agent/lock", agentId=id_)
            joined = await tx.one("load/heard", agentId=agent_id, rows=rows)
            assert joined is not None  # It aggregates without a grouping key.
            return joined["joined"]

        joined = await self._engine.store.write(work)
        self._not_joined += len(rows) - joined
        if agent_id in self._touched:
            self._stored["relationship"] = self._stored.get("relationship", 0) + joined


_STATEMENTS = {
    "memory": "load/memories",
    "run": "load/runs",
    "change": "load/changes",
    "place": "load/places",
}
