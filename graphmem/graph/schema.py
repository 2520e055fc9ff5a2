"""The schema: constraints and indexes, versioned, applied once, by one process at a time."""

from __future__ import annotations

import asyncio
import re
import time
from secrets import token_hex

from graphmem.embedding.base import Embedder
from graphmem.errors import IndexUnavailable, SchemaMismatch, StoreError, StoreUnavailable
from graphmem.graph.queries import queries
from graphmem.graph.store import Row, Store

MINIMUM_SERVER = (2026, 9)
"""The first Neo4j with full-text and vector SEARCH and filters inside the index."""

_LEASE_SECONDS = 60
_POLL_SECONDS = 0.1
_INDEX_NAME = re.compile(r"CREATE (?:\w+ )?(?:INDEX|CONSTRAINT) (\w+) IF NOT EXISTS")


def _steps() -> list[tuple[int, str]]:
    """The schema files with their numbers, in order: ``schema/006-ranking`` is step 6."""
    names = sorted(name for name in queries if name.startswith("schema/"))
    return [(int(name.removeprefix("schema/").split("-")[0]), name) for name in names]


def current_version() -> int:
    """The version that this graphmem makes: the number of the last schema file."""
    return _steps()[-1][0]


def index_names() -> frozenset[str]:
    """The names of all indexes, those that back constraints included."""
    found = (_INDEX_NAME.search(queries[name].text) for _, name in _steps())
    return frozenset(match[1] for match in found if match)


async def prepare(store: Store, embedder: Embedder, *, analyzer: str, wait_seconds: float) -> None:
    """Check the server, apply what is missing, and wait until every index is online.

    Args:
        store: An open store.
        embedder: Its model's name and dimension are recorded at the first time and must match afterwards.
        analyzer: Of the full-text index; recorded and matched likewise.
        wait_seconds: How long to wait for another process that changes the schema, and for the indexes.

    Raises:
        StoreError: When the server is too old.
        SchemaMismatch: When the store was made by a newer graphmem, or for another embedding model.
        IndexUnavailable: When an index is missing, failed, or not online in time.
    """
    await _check_server(store)
    rows = await store.query("store/schema")
    if rows:
        _check_match(rows[0], embedder, analyzer)
    if not rows or rows[0]["version"] < current_version():
        await _apply(store, embedder, analyzer, wait_seconds)
    await wait_online(store, wait_seconds=wait_seconds)


async def _check_server(store: Store) -> None:
    version = await store.server_version()
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < MINIMUM_SERVER:
        needed = ".".join(f"{part:02}" for part in MINIMUM_SERVER)
        raise StoreError(
            f"the server at {store.uri} is Neo4j {version}; graphmem needs {needed} or newer",
            remedy="upgrade it, or leave GRAPHMEM_URI unset to use the embedded server",
        )


def _check_match(found: Row, embedder: Embedder, analyzer: str) -> None:
    if found["version"] > current_version():
        raise SchemaMismatch(
            f"the store has schema version {found['version']}; this graphmem knows up to {current_version()}",
            remedy="upgrade graphmem",
        )
    if (found["embeddingModel"], found["dimension"]) != (embedder.name, embedder.dimension):
        raise SchemaMismatch(
            f"the store was made with {found['embeddingModel']} ({found['dimension']} dimensions); "
            f"the embedder given is {embedder.name} ({embedder.dimension} dimensions)",
            remedy="use that model (GRAPHMEM_EMBEDDING), or another database for the new one",
        )
    if found["analyzer"] != analyzer:
        raise SchemaMismatch(
            f"the store's full-text index was made with the analyzer {found['analyzer']!r}, not {analyzer!r}",
            remedy=f"set GRAPHMEM_ANALYZER={found['analyzer']}, or use another database",
        )


async def _apply(store: Store, embedder: Embedder, analyzer: str, wait_seconds: float) -> None:
    await store.schema("schema/000-schema")
    token = token_hex(8)
    deadline = time.monotonic() + wait_seconds
    while True:
        row = await store.write(
            lambda tx: tx.one(
                "store/lease_schema",
                token=token,
                leaseSeconds=_LEASE_SECONDS,
                embeddingModel=embedder.name,
                dimension=embedder.dimension,
                analyzer=analyzer,
            )
        )
        assert row is not None
        if row["token"] == token:
            break
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                "another process has been changing the schema for too long", remedy="try again in a minute"
            )
        await asyncio.sleep(_POLL_SECONDS)
    recorded = (await store.query("store/schema"))[0]
    _check_match(recorded, embedder, analyzer)  # Whoever created the record first decided the model.
    known = {"dimension": embedder.dimension, "analyzer": analyzer}
    for number, name in _steps():
        if number > row["version"]:
            await store.schema(name, **{key: known[key] for key in queries[name].parameters})
    await store.write(lambda tx: tx.run("store/finish_schema", token=token, version=current_version()))


async def wait_online(store: Store, *, wait_seconds: float) -> None:
    """Wait until every index of the schema is online.

    Raises:
        IndexUnavailable: When one is missing, failed, or not online within ``wait_seconds``.
    """
    deadline = time.monotonic() + wait_seconds
    wanted = index_names()
    while True:
        states = {row["name"]: row for row in await store.query("store/indexes") if row["name"] in wanted}
        if missing := sorted(wanted - states.keys()):
            raise IndexUnavailable(
                f"indexes are missing from {store.database!r} at {store.uri}: {', '.join(missing)}",
                remedy="create them again from the files in cypher/schema",
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
