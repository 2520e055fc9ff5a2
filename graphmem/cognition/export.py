"""Exporting agents: all that belongs to them, as lines of a file, in pages; never more than a page is held."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from graphmem.clock import system_now
from graphmem.cognition.engine import Engine, unknown_agent
from graphmem.errors import ChangedMeanwhile, InvalidInput, StoreInconsistent
from graphmem.graph import exported
from graphmem.graph.new_file import new_file
from graphmem.graph.store import Row
from graphmem.models.exports import Exported

PAGE = 500
"""Nodes that are read at a time; of changes, revisions."""
_ATTEMPTS = 3
"""How many times an agent is read that others write to meanwhile."""
_HEARD = "HEARD_FROM"
_KINDS = {"Memory": "memory", "Run": "run", "Place": "place"}
"""What a relationship may lead to."""


async def export_graph(
    engine: Engine,
    file: Path,
    *,
    agents: Sequence[str] | None = None,
    vectors: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Write agents to a new file, which is there only once it is whole.

    Args:
        engine: The open store.
        file: Where to; readable by its owner only.
        agents: Whose memories, in this order; all without it, by id.
        vectors: Whether the vectors are kept: without them the file is a fifth as long, and every text is embedded
            again after an import.
        progress: Told how many memories are written.

    Raises:
        InvalidInput: When the file is there already or cannot be written.
        UnknownAgent: When there is no such agent.
        ChangedMeanwhile: When an agent is written to all the time.
    """
    if agents is None:
        agents = [row["id"] for row in await engine.store.query("agent/ids", prefix="", limit=_ALL)]
    ids = tuple(dict.fromkeys(agents))
    try:
        with new_file(file) as stream:
            return await _Writer(engine, stream, vectors, progress).write(ids)
    except FileExistsError as error:
        raise InvalidInput(f"{file} is there already", remedy="name another file, or remove that one") from error
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be written: {error.strerror}", remedy="name a file in a folder with room for it"
        ) from error


_ALL = 2**31 - 1


class _Writer:
    def __init__(self, engine: Engine, stream: BinaryIO, vectors: bool, progress: Callable[[int], None] | None) -> None:
        self._engine = engine
        self._stream = stream
        self._vectors = vectors
        self._progress = progress
        self._counts: dict[str, int] = {}
        self._heard: list[Mapping[str, Any]] = []
        """What agents heard from each other: comes when all of them are there."""

    async def write(self, ids: Sequence[str]) -> Exported:
        embedder = self._engine.embedder
        self._line(
            {
                "type": "head",
                "format": exported.FORMAT,
                "version": exported.VERSION,
                "at": system_now().isoformat(),
                "embeddingModel": embedder.name,
                "dimension": embedder.dimension,
                "vectors": self._vectors,
            }
        )
        for id_ in ids:
            await self._agent(id_)
        for line in self._heard:
            self._line(line)
        counts = {name: self._counts.get(name, 0) for name in ("memory", "run", "change", "place", "relationship")}
        lines = sum(self._counts.values()) + 1
        self._line({"type": "end", "lines": lines})
        return Exported(
            agents=tuple(ids),
            memories=counts["memory"],
            runs=counts["run"],
            changes=counts["change"],
            places=counts["place"],
            relationships=counts["relationship"],
            lines=lines,
        )

    async def _agent(self, id_: str) -> None:
        """Everything of one agent, as it was at one moment: read again where it was written to meanwhile."""
        for _ in range(_ATTEMPTS):
            place, counts, heard = self._stream.tell(), dict(self._counts), len(self._heard)
            row = await self._state(id_)
            self._line(exported.node("agent", {"properties": row["properties"]}, id=id_))
            await self._nodes(id_)
            if (await self._state(id_))["state"] == row["state"]:
                return
            self._stream.seek(place)
            self._stream.truncate()
            self._counts = counts
            del self._heard[heard:]
        raise ChangedMeanwhile(
            f"agent {id_!r} was written to each of the {_ATTEMPTS} times that it was read",
            remedy="export it while nobody writes to it",
        )

    async def _state(self, id_: str) -> Row:
        rows = await self._engine.store.query("export/agent", agentId=id_)
        if not rows:
            raise unknown_agent(id_)
        return rows[0]

    async def _nodes(self, agent: str) -> None:
        """Nodes first, kind by kind, then what joins them: who reads the file knows both ends of each by then."""
        query = self._engine.store.query
        for row in _sorted(await query("export/places", agentId=agent), "path"):
            self._line(exported.node("place", _without(row, "scope")))
        async for page in self._pages(agent, "export/memory_ids"):
            rows = await query("export/memories", agentId=agent, ids=page, vectors=self._vectors)
            for row in _sorted(rows, "id"):
                self._line(exported.node("memory", _without(row, "agentId", "scopeToken")))
            if self._progress:
                self._progress(self._counts["memory"])
        async for page in self._pages(agent, "export/run_ids"):
            for row in _sorted(await query("export/runs", agentId=agent, ids=page), "id"):
                self._line(exported.node("run", _without(row, "agentId")))
        async for seq in self._revisions(agent):
            found = await query("export/changes", agentId=agent, after=seq, limit=PAGE)
            for row in sorted(found, key=lambda row: (row["properties"]["seq"], row["properties"]["ordinal"])):
                self._line(exported.node("change", _without(row, "agentId")))
        await self._edges(agent)

    async def _edges(self, agent: str) -> None:
        query = self._engine.store.query
        self._join(agent, "place", await query("export/place_edges", agentId=agent))
        async for page in self._pages(agent, "export/memory_ids"):
            self._join(agent, "memory", await query("export/memory_edges", agentId=agent, ids=page))
        async for page in self._pages(agent, "export/run_ids"):
            self._join(agent, "run", await query("export/run_edges", agentId=agent, ids=page))
        async for seq in self._revisions(agent):
            self._join(agent, "change", await query("export/change_edges", agentId=agent, after=seq, limit=PAGE))

    async def _pages(self, agent: str, name: str) -> AsyncIterator[list[str]]:
        """Ids in the database's own order, which is not Python's for every character."""
        last = ""
        while rows := await self._engine.store.query(name, agentId=agent, after=last, limit=PAGE):
            last = rows[-1]["id"]
            yield [row["id"] for row in rows]

    async def _revisions(self, agent: str) -> AsyncIterator[int]:
        """Pages of revisions in which something changed, by the revision before each."""
        after = -1
        while (rows := await self._engine.store.query("export/next_change", agentId=agent, after=after)) and (
            seq := rows[0]["seq"]
        ) is not None:
            after = seq - 1 + PAGE
            yield seq - 1

    def _join(self, agent: str, kind: str, rows: Iterable[Row]) -> None:
        lines: list[tuple[bytes, Mapping[str, Any], bool]] = []
        for row in rows:
            target = next((_KINDS[label] for label in row["labels"] if label in _KINDS), None)
            other = row["agent"] != agent
            if target is None or (other and row["name"] != _HEARD):
                raise StoreInconsistent(
                    f"agent {agent!r} has a {row['name']} from {row['source']!r} to something that is not its own",
                    remedy="graphmem doctor names what is wrong in the graph of an agent",
                )
            start = [kind, ".".join(map(str, row["source"])) if kind == "change" else row["source"]]
            end = [target, row["target"], *([row["agent"]] if row["name"] == _HEARD else [])]
            line = exported.relationship(row, start, end)
            if row["name"] == _HEARD:
                line["agent"] = agent
            lines.append((exported.written(line), line, row["name"] == _HEARD))
        for raw, line, heard in sorted(lines, key=lambda item: item[0]):
            if heard:
                self._heard.append(line)
            else:
                self._count("relationship", raw)

    def _line(self, line: Mapping[str, Any]) -> None:
        self._count(line["type"], exported.written(line))

    def _count(self, kind: str, raw: bytes) -> None:
        self._stream.write(raw)
        self._counts[kind] = self._counts.get(kind, 0) + 1


def _sorted(rows: Iterable[Row], name: str) -> list[Row]:
    return sorted(rows, key=lambda row: row["properties"][name])


def _without(row: Row, *names: str) -> Row:
    """The row without what follows from whose it is."""
    return {**row, "properties": {name: value for name, value in row["properties"].items() if name not in names}}
