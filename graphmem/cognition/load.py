"""Importing agents from an export: the whole file is checked first, then stored in batches that can be gone on with.

What a file says is stored as it stands there, so that it is held against the same shapes as what the verbs write, and
each agent against all rules at the end. Each batch notes the line that it reached in its own transaction: cut off
anywhere, the same file again goes on from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graphmem.clock import system_now
from graphmem.cognition.checks import check
from graphmem.cognition.engine import Engine, checked_id
from graphmem.embedding.base import Embedder, Vectors, usable
from graphmem.errors import AgentNotEmpty, InvalidInput, StoreInconsistent
from graphmem.graph import exported
from graphmem.graph.exported import Line, Reference
from graphmem.graph.records import scope_token, to_memory, to_run
from graphmem.graph.store import Row, Transaction
from graphmem.models import MAX_TEXT
from graphmem.models.exports import GraphImported

BATCH = 500
"""Lines a transaction."""
_OTHER_LABELS = frozenset({"Stale", "Ended", "Archived"})
_TYPES = frozenset({"Observation", "Reflection", "Plan"})
_JOINS = {
    ("memory", "memory"): "load/memory_memory",
    ("memory", "run"): "load/memory_run",
    ("run", "memory"): "load/run_memory",
    ("change", "memory"): "load/change_memory",
    ("place", "place"): "load/place_place",
}
_HEARD = "HEARD_FROM"


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
        checked = _checked(file, prefix, engine.embedder)
        for agent_id in checked.agents.values():
            await engine.store.read(lambda tx, id_=agent_id: _state(tx, id_, checked.digest))
        loader = _Loader(engine, checked, progress or (lambda lines: None))
        for batch in _batches(file):
            await loader.store(batch)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", remedy="check the name of the file") from error
    violations = 0
    for agent_id in checked.agents.values():
        if agent_id not in loader.known:
            violations += len(await check(engine, agent_id))
    return loader.report(violations)


# --- the file as a whole ----------------------------------------------------------------------------------------


@dataclass
class _Checked:
    """What the first reading found."""

    digest: str = ""
    agents: dict[str, str] = field(default_factory=dict[str, str])
    """The agents' ids: in the file, and here."""


def _checked(file: Path, prefix: str, embedder: Embedder) -> _Checked:
    """Read all of the file and refuse it where anything is wrong; only ids are kept."""
    found = _Checked()
    digest = hashlib.sha256()
    seen: set[Reference] = set()
    memories: dict[str, set[str]] = {}
    agent: str | None = None
    with file.open("rb") as stream:
        for line in exported.read(stream, digest.update):
            match line.kind:
                case "head":
                    continue
                case "end":
                    if line.data.get("lines") != line.number:
                        raise line.damaged(f"the export had {line.data.get('lines')} lines, this one included")
                case "agent":
                    agent = line.text("id")
                    if agent in found.agents:
                        raise line.damaged(f"the agent {agent!r} stands in the file twice")
                    found.agents[agent] = _own_id(line, f"{prefix}{agent}")
                    line.properties()
                    seen, memories[agent] = set(), set()
                case "relationship" if line.name() == _HEARD:
                    _check_heard(line, memories)
                case _ if agent is None:
                    raise line.damaged("stands before the first agent")
                case "relationship":
                    _check_ends(line, seen)
                case _:
                    reference = _reference(line, embedder)
                    if reference in seen:
                        raise line.damaged(f"the {line.kind} {reference[1]!r} of agent {agent!r} stands there twice")
                    seen.add(reference)
                    if line.kind == "memory":
                        memories[agent].add(reference[1])
    found.digest = digest.hexdigest()
    return found


def _own_id(line: Line, id_: str) -> str:
    try:
        return checked_id(id_, "agent")
    except InvalidInput as error:
        raise line.damaged(str(error)) from error


def _reference(line: Line, embedder: Embedder) -> Reference:
    """What a node is known by; its properties are checked on the way."""
    row = line.properties()
    match line.kind:
        case "memory":
            _memory(line, row)
            if row.get("embeddingModel") == embedder.name and (vector := line.vector()) is not None:
                _usable(line, vector, embedder)
            return "memory", row["id"]
        case "run":
            _shaped(line, lambda: to_run(row))
            return "run", _id(line, row.get("id"))
        case "change":
            numbers = row.get("seq"), row.get("ordinal")
            if not all(isinstance(number, int) and number >= 0 for number in numbers):
                raise line.damaged("a change needs seq and ordinal")
            return "change", f"{numbers[0]}.{numbers[1]}"
        case _:
            return "place", _id(line, row.get("path"), longest=8192)


def _id(line: Line, value: object, longest: int = 512) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise line.damaged(f"the {line.kind} has no usable id")
    return value


def _memory(line: Line, row: Row) -> None:
    """Refuse a memory that no verb could have written."""
    labels = set(line.labels())
    if len(labels & _TYPES) != 1 or labels - _TYPES - _OTHER_LABELS:
        raise line.damaged(f"a memory cannot have the labels {sorted(labels)}")
    _id(line, row.get("id"))
    text = row.get("text")
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise line.damaged("a memory needs a text of at most 100,000 characters")
    _shaped(line, lambda: to_memory({"memory": {**row, "agentId": "-"}, "labels": ["Memory", *labels]}))
    line.vector()


def _usable(line: Line, vector: Vectors, embedder: Embedder) -> None:
    if not usable(vector, embedder.dimension):
        raise line.damaged(f"the vector is not one of {embedder.name}")


def _shaped(line: Line, build: Callable[[], object]) -> None:
    try:
        build()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise line.damaged(f"the {line.kind} is none: {where}: {first['msg']}") from error


def _check_ends(line: Line, seen: set[Reference]) -> None:
    ends = line.reference("from"), line.reference("to")
    if (ends[0][0], ends[1][0]) not in _JOINS:
        raise line.damaged(f"a {ends[0][0]} cannot be joined with a {ends[1][0]}")
    line.properties()
    for end in ends:
        if end not in seen:
            raise line.damaged(f"there is no {end[0]} {end[1]!r} before it")


def _check_heard(line: Line, memories: dict[str, set[str]]) -> None:
    agent, start, end = line.text("agent"), line.reference("from"), line.reference("to")
    line.properties()
    if start[0] != "memory" or start[1] not in memories.get(agent, set()):
        raise line.damaged(f"agent {agent!r} has no {start[0]} {start[1]!r} before it")
    if len(end) != 3 or end[0] != "memory":
        raise line.damaged("what was heard is a memory of another agent")


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
            if line.kind == "relationship" and line.name() == _HEARD:
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
    def __init__(self, engine: Engine, checked: _Checked, progress: Callable[[int], None]) -> None:
        self._engine = engine
        self._checked = checked
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
        if batch.lines and batch.lines[0].kind == "relationship" and batch.lines[0].name() == _HEARD:
            await self._hear(agent_id, batch.lines)
        else:
            await self._nodes(agent_id, batch)
        if batch.lines:
            self._progress(batch.lines[-1].number)

    async def _nodes(self, agent_id: str, batch: _Batch) -> None:
        rows = [(line, self._row(line)) for line in batch.lines if line.kind != "agent"]
        head = next((line for line in batch.lines if line.kind == "agent"), None)

        async def work(tx: Transaction) -> list[Line] | None:
            await tx.one("agent/create", agentId=agent_id)
            reached = await _state(tx, agent_id, self._checked.digest)
            if reached is None:
                return None
            if head is not None and reached < head.number:
                await tx.run(
                    "load/begin",
                    agentId=agent_id,
                    properties={name: value for name, value in head.properties().items() if name != "id"},
                    origin=self._checked.digest,
                    now=self._at,
                    line=head.number,
                )
            new = [(line, row) for line, row in rows if line.number > reached]
            await self._write(tx, agent_id, new)
            line = None if batch.last else batch.lines[-1].number
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
                "join": _JOINS[start[0], end[0]],
                "row": {"name": line.name(), "source": source, "target": end[1], "properties": properties},
                "properties": properties,
            }
        row: Row = {"properties": properties}
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
