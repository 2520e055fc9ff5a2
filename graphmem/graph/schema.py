"""The schema: versioned, brought up to date by one process at a time.

A step is a numbered file ``cypher/schema/NNN-name.cypher``, applied once, in order, and never changed once released:

- constraints and indexes: ``CREATE … IF NOT EXISTS`` or ``DROP … IF EXISTS``, one statement a step;
- changes of what is stored: a statement that changes at most ``$limit`` nodes that still need it and returns how many
  it ``changed``; it is repeated until there are none, each time in a transaction of its own.

So every step may be cut off anywhere and run again. The store records the step that it has reached.
"""

from __future__ import annotations

import asyncio
import re
import time
from secrets import token_hex

from graphmem.embedding.base import Embedder
from graphmem.errors import IndexUnavailable, SchemaMismatch, StoreUnavailable, UnsupportedServer
from graphmem.graph.made_for import EmbeddingModel, moving
from graphmem.graph.queries import queries
from graphmem.graph.store import Row, Store

MINIMUM_SERVER = (2026, 9)
"""The first Neo4j with full-text and vector SEARCH and filters inside the index."""

_LEASE_SECONDS = 60
_POLL_SECONDS = 0.1
_BATCH = 1_000
"""Nodes that one transaction of a step changes."""
_INDEX = re.compile(r"(CREATE|DROP) (?:\w+ )?(?:INDEX|CONSTRAINT) (\w+) IF")
_VECTOR_INDEX = "schema/012-embedding"
_FEATURES = {
    "vector indexes with properties to filter by": _VECTOR_INDEX,
    "full-text indexes": "schema/011-text",
    "SEARCH in a filtered vector index": "store/search",
}
"""What not every Neo4j can do, with a statement that needs it."""


def _steps() -> list[tuple[int, str]]:
    """The schema files with their numbers, in order: ``schema/006-ranking`` is step 6."""
    names = sorted(name for name in queries if name.startswith("schema/"))
    return [(int(name.removeprefix("schema/").split("-")[0]), name) for name in names]


def current_version() -> int:
    """The version that this graphmem makes: the number of the last schema file."""
    return _steps()[-1][0]


def index_names() -> frozenset[str]:
    """The names of all indexes, those that back constraints included."""
    names: set[str] = set()
    for _, name in _steps():
        for verb, index in _INDEX.findall(queries[name].text):
            if verb == "CREATE":
                names.add(index)
            else:
                names.discard(index)
    return frozenset(names)


async def prepare(store: Store, embedder: Embedder, *, analyzer: str, wait_seconds: float) -> None:
    """Check the server, apply what is missing, and wait until every index is online.

    Args:
        store: An open store.
        embedder: Its model's name and dimension are recorded at the first time and must match afterwards.
        analyzer: Of the full-text index; recorded and matched likewise.
        wait_seconds: How long to wait for another process that changes the schema, and for the indexes.

    Raises:
        UnsupportedServer: When the server is another product, too old, or lacks a feature.
        SchemaMismatch: When the store was made by a newer graphmem, or for another embedding model.
        IndexUnavailable: When an index is missing, failed, or not online in time.
        NotPermitted: When the schema must change and the account may not do that.
    """
    check_server(await store.server(), store.uri)
    rows = await _settled(store, wait_seconds)
    if rows:
        _check_match(rows[0], embedder, analyzer)
    if not rows or rows[0]["schemaVersion"] < current_version():
        await _apply(store, embedder, analyzer, wait_seconds)
    await _wait_online(store, embedder.dimension, wait_seconds)
    store.model = EmbeddingModel(embedder.name, embedder.dimension)


async def prepare_to_move(store: Store, embedder: Embedder, *, analyzer: str, wait_seconds: float) -> None:
    """As :func:`prepare`, for a store that is to be moved to the embedder, whichever model it is for.

    Raises:
        As :func:`prepare`, but for another model.
    """
    check_server(await store.server(), store.uri)
    rows = await store.query("store/schema")
    made_for = EmbeddingModel(rows[0]["embeddingModel"], rows[0]["dimension"]) if rows else embedder
    if rows:
        _check_match(rows[0], made_for, analyzer)
    if not rows or rows[0]["schemaVersion"] < current_version():
        await _apply(store, made_for, analyzer, wait_seconds)


async def _settled(store: Store, wait_seconds: float) -> list[Row]:
    """What the store was made for, once it is not being moved to another embedding model.

    Raises:
        EmbeddingModelChanged: When the move does not end in time.
    """
    deadline = time.monotonic() + wait_seconds
    while True:
        rows = await store.query("store/schema")
        if not rows or not rows[0]["switching"]:
            return rows
        if time.monotonic() > deadline:
            raise moving(rows[0])
        await asyncio.sleep(_POLL_SECONDS)


async def make_vector_index(store: Store, embedder: Embedder, *, wait_seconds: float) -> None:
    """Make the vector index for an embedder's dimension where it is missing, and wait until it is online.

    Raises:
        IndexUnavailable: When it failed, or is not online in time.
        SchemaMismatch: When there is one of another dimension.
    """
    await store.schema(_VECTOR_INDEX, dimension=embedder.dimension)
    await _wait_online(store, embedder.dimension, wait_seconds)


def check_server(agent: str, uri: str) -> None:
    """Refuse what is not a Neo4j that is new enough, by what it says of itself.

    Args:
        agent: Such as ``Neo4j/2026.09.0``.
        uri: Where it is.

    Raises:
        UnsupportedServer: As it says.
    """
    needed = ".".join(f"{part:02}" for part in MINIMUM_SERVER)
    found = re.fullmatch(r"Neo4j/(\d+)\.(\d+)\S*", agent)
    if found is None:
        raise UnsupportedServer(
            f"the server at {uri} says that it is {agent!r}; graphmem needs Neo4j {needed} or newer",
            remedy="name a Neo4j by GRAPHMEM_URI, or leave it unset to use the embedded server",
        )
    if (int(found[1]), int(found[2])) < MINIMUM_SERVER:
        version = agent.removeprefix("Neo4j/")
        raise UnsupportedServer(
            f"the server at {uri} is Neo4j {version}; graphmem needs {needed} or newer",
            remedy="upgrade it, or leave GRAPHMEM_URI unset to use the embedded server",
        )


def _parameters(name: str, embedder: Embedder | EmbeddingModel, analyzer: str) -> dict[str, object]:
    """What a step has to know of the store that is made."""
    known = {"dimension": embedder.dimension, "analyzer": analyzer}
    return {key: known[key] for key in queries[name].parameters & known.keys()}


async def _check_features(store: Store, embedder: Embedder | EmbeddingModel, analyzer: str) -> None:
    """Ask for what is needed before anything is made: a version says little of managed and compatible servers."""
    for feature, name in _FEATURES.items():
        if refusal := await store.understands(name, **_parameters(name, embedder, analyzer)):
            raise UnsupportedServer(
                f"the server at {store.uri} ({await store.server()}) lacks {feature}: {refusal}",
                remedy=f"use Neo4j {'.'.join(f'{part:02}' for part in MINIMUM_SERVER)} or newer, "
                "or leave GRAPHMEM_URI unset to use the embedded server",
            )


def _check_match(found: Row, embedder: Embedder | EmbeddingModel, analyzer: str) -> None:
    if found["schemaVersion"] > current_version():
        raise SchemaMismatch(
            f"the store has schema version {found['schemaVersion']}; this graphmem knows up to {current_version()}",
            remedy="upgrade graphmem",
        )
    if (found["embeddingModel"], found["dimension"]) != (embedder.name, embedder.dimension):
        raise SchemaMismatch(
            f"the store was made with {found['embeddingModel']} ({found['dimension']} dimensions); "
            f"the embedder given is {embedder.name} ({embedder.dimension} dimensions)",
            remedy="use that model (GRAPHMEM_EMBEDDING), or move the store to the new one with graphmem reembed",
        )
    if found["analyzer"] != analyzer:
        raise SchemaMismatch(
            f"the store's full-text index was made with the analyzer {found['analyzer']!r}, not {analyzer!r}",
            remedy=f"set GRAPHMEM_ANALYZER={found['analyzer']}, or use another database",
        )


async def _apply(store: Store, embedder: Embedder | EmbeddingModel, analyzer: str, wait_seconds: float) -> None:
    """Take the steps that are missing, or wait while another process takes them."""
    await _check_features(store, embedder, analyzer)
    await store.schema("schema/000-schema")
    token = token_hex(8)
    deadline = time.monotonic() + wait_seconds
    while True:
        row = await store.write(
            lambda tx: tx.one(
                "store/lease_schema",
                token=token,
                version=current_version(),
                leaseSeconds=_LEASE_SECONDS,
                embeddingModel=embedder.name,
                dimension=embedder.dimension,
                analyzer=analyzer,
            )
        )
        assert row is not None
        _check_match(row, embedder, analyzer)  # Whoever created the record first decided the model.
        if row["schemaVersion"] >= current_version():
            return
        if row["token"] == token and await _take_steps(store, token, row["schemaVersion"], embedder, analyzer):
            return
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                "another process has been changing the schema for too long", remedy="try again in a minute"
            )
        await asyncio.sleep(_POLL_SECONDS)


async def _take_steps(
    store: Store, token: str, version: int, embedder: Embedder | EmbeddingModel, analyzer: str
) -> bool:
    """Take all steps after ``version``.

    Steps of constraints and indexes are recorded together at the end: each change of the schema makes the server plan
    every statement anew, and taking them twice does nothing.

    Returns:
        Whether all were taken; not so when the lease ended and another process goes on.
    """
    for number, name in _steps():
        if number <= version:
            continue
        if "limit" in queries[name].parameters:
            while await _change_some(store, name):
                if not await _record(store, token, number - 1):
                    return False
        else:
            await store.schema(name, **_parameters(name, embedder, analyzer))
    return await _record(store, token, current_version())


async def _change_some(store: Store, name: str) -> int:
    row = await store.write(lambda tx: tx.one(name, limit=_BATCH))
    assert row is not None, f"{name} returned no row"
    return row["changed"]


async def _record(store: Store, token: str, version: int) -> bool:
    """Record the step reached and prolong the lease, which ends with the last step; False when it is another's."""
    last = version == current_version()
    return bool(
        await store.write(
            lambda tx: tx.run(
                "store/record_schema", token=token, version=version, leaseSeconds=None if last else _LEASE_SECONDS
            )
        )
    )


async def _wait_online(store: Store, dimension: int, wait_seconds: float) -> None:
    """Wait until every index of the schema is online."""
    deadline = time.monotonic() + wait_seconds
    wanted = index_names()
    while True:
        states = {row["name"]: row for row in await store.query("store/indexes") if row["name"] in wanted}
        if missing := sorted(wanted - states.keys()):
            raise IndexUnavailable(
                f"indexes are missing from {store.database!r} at {store.uri}: {', '.join(missing)}",
                remedy="have them made again: MATCH (s:GraphmemSchema) SET s.version = 0, then open the store",
            )
        # A vector of another length is stored but left out of the index: it would never be found.
        for name, row in states.items():
            if row["dimension"] not in (None, dimension):
                raise SchemaMismatch(
                    f"the index {name} in {store.database!r} at {store.uri} is for vectors of {row['dimension']} "
                    f"dimensions; the embedder gives {dimension}",
                    remedy=f"use the model that it was made for (GRAPHMEM_EMBEDDING); if nothing is stored: DROP INDEX "
                    f"{name}, MATCH (s:GraphmemSchema) SET s.version = 0, then open the store",
                )
        if failed := sorted(name for name, row in states.items() if row["state"] == "FAILED"):
            raise IndexUnavailable(
                f"indexes have failed: {', '.join(failed)}",
                remedy="see the server's log for the cause, drop them and open the store again",
            )
        if not (waiting := sorted(name for name, row in states.items() if row["state"] != "ONLINE")):
            return
        if time.monotonic() > deadline:
            progress = ", ".join(f"{name} {states[name]['percent']:.0f} %" for name in waiting)
            raise IndexUnavailable(
                f"indexes not online after {wait_seconds:g} s: {progress}",
                remedy="wait for them, or raise GRAPHMEM_INDEX_TIMEOUT",
            )
        await asyncio.sleep(_POLL_SECONDS)
