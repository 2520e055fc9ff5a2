"""The only module that talks to the Neo4j driver: sessions, managed transactions, errors, types.

Every statement goes through :class:`Transaction.run`, by the name of its file, with its parameters checked. Reads
and writes are managed transactions, which the driver retries on transient errors; work passed to them may
therefore run more than once and must not do anything but queries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import neo4j
import numpy as np
from neo4j import exceptions as driver_errors
from neo4j.time import DateTime
from neo4j.vector import Vector

from graphmem.errors import (
    AuthenticationFailed,
    GraphmemError,
    IndexUnavailable,
    StoreError,
    StoreInconsistent,
    StoreUnavailable,
)
from graphmem.graph.queries import queries

Row = dict[str, Any]
T = TypeVar("T")


def _encode(value: Any) -> Any:
    """Turn numpy vectors into the driver's, at any depth; everything else the driver knows."""
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(np.asarray(value, dtype=np.float32))  # pyright: ignore[reportUnknownMemberType]
    if isinstance(value, Mapping):
        return {key: _encode(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_encode(item) for item in cast("Sequence[Any]", value)]
    return value


def _decode(value: Any) -> Any:
    """Turn the driver's times into aware datetimes in UTC, at any depth."""
    if isinstance(value, DateTime):
        return value.to_native().astimezone(UTC)
    if isinstance(value, dict):
        return {key: _decode(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_decode(item) for item in cast("list[Any]", value)]
    return value


@contextmanager
def _translated(uri: str, database: str) -> Generator[None]:
    """Raise the driver's errors as ours; the cause stays attached."""
    try:
        yield
    except driver_errors.AuthError as error:
        raise AuthenticationFailed(
            f"{uri} refused the user name or password",
            remedy="set GRAPHMEM_USER and GRAPHMEM_PASSWORD (or the options) to an account of that server",
        ) from error
    except (driver_errors.ServiceUnavailable, driver_errors.SessionExpired) as error:
        raise StoreUnavailable(
            f"no connection to Neo4j at {uri}: {error}",
            remedy="check that the server runs (graphmem status) and that the address is right",
        ) from error
    except driver_errors.DatabaseUnavailable as error:
        raise StoreUnavailable(f"the database {database!r} at {uri} is not available: {error.message}") from error
    except driver_errors.Neo4jError as error:
        code = error.code or ""
        message = (error.message or str(error)).strip()
        if code == "Neo.ClientError.Database.DatabaseNotFound":
            raise StoreError(
                f"there is no database {database!r} at {uri}",
                remedy="set GRAPHMEM_DATABASE (or --database) to one that SHOW DATABASES lists",
            ) from error
        if "Schema.IndexNotFound" in code or ("Procedure.ProcedureCallFailed" in code and "index" in message.lower()):
            raise IndexUnavailable(message, remedy="run graphmem status, then open the store again") from error
        raise StoreError(f"Neo4j refused a statement ({code}): {message}") from error
    except driver_errors.DriverError as error:
        raise StoreError(f"the Neo4j driver failed: {type(error).__name__}: {error}") from error


class Transaction:
    """One open transaction."""

    def __init__(self, tx: neo4j.AsyncManagedTransaction) -> None:
        self._tx = tx

    async def run(self, name: str, **parameters: Any) -> list[Row]:
        """Run the statement of that name and return all its rows."""
        query = queries[name]
        query.check(parameters)
        result = await self._tx.run(query.text, {key: _encode(value) for key, value in parameters.items()})
        return [_decode(record.data()) for record in await result.fetch(_ALL)]

    async def one(self, name: str, **parameters: Any) -> Row | None:
        """Run a statement that returns at most one row.

        Raises:
            StoreInconsistent: When it returns more.
        """
        rows = await self.run(name, **parameters)
        if len(rows) > 1:
            raise StoreInconsistent(f"query {name} returned {len(rows)} rows where one was expected")
        return rows[0] if rows else None


_ALL = 2**31 - 1

Work = Callable[[Transaction], Awaitable[T]]


class Store:
    """A connection pool to one database, with one bookmark manager, so that one's own writes are always seen."""

    def __init__(self, driver: neo4j.AsyncDriver, uri: str, database: str) -> None:
        self.uri = uri
        self.database = database
        self._driver = driver
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self._loop = asyncio.get_running_loop()
        self._closed = False

    @classmethod
    async def connect(cls, uri: str, user: str, password: str, database: str) -> Store:
        """Open the pool and check that the server answers and accepts the account.

        Raises:
            StoreUnavailable: When there is no server at the address.
            AuthenticationFailed: When it refuses the account.
            StoreError: When the address is not one of Neo4j's, or the server fails otherwise.
        """
        try:
            driver = neo4j.AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - its **config
                uri,
                auth=(user, password),
                notifications_min_severity="OFF",
                connection_acquisition_timeout=60,
            )
        except (driver_errors.ConfigurationError, ValueError) as error:
            raise StoreError(
                f"{uri!r} is not a Neo4j address: {error}",
                remedy="use bolt://host:7687, or neo4j+s://… for Aura and clusters",
            ) from error
        store = cls(driver, uri, database)
        try:
            with _translated(uri, database):
                await driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
        except BaseException:
            await driver.close()
            raise
        return store

    async def close(self) -> None:
        """Close the pool; calling it again does nothing.

        Raises:
            GraphmemError: In another event loop than that of the connections.
        """
        if not self._closed:
            self._check_loop()
            self._closed = True
            await self._driver.close()

    def _check_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise GraphmemError(
                "this memory was opened in another event loop",
                remedy="open AsyncMemory inside each asyncio.run, or use the synchronous Memory",
            )

    def _session(self, access: str) -> neo4j.AsyncSession:
        self._check_loop()
        if self._closed:
            raise GraphmemError("this memory is closed", remedy="open it again")
        return self._driver.session(  # pyright: ignore[reportUnknownMemberType] - its **config
            database=self.database, default_access_mode=access, bookmark_manager=self._bookmarks
        )

    async def read(self, work: Work[T]) -> T:
        """Run work in a read transaction, retried on transient errors."""

        async def body(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(Transaction(tx))

        with _translated(self.uri, self.database):
            async with self._session(neo4j.READ_ACCESS) as session:
                return await session.execute_read(body)

    async def write(self, work: Work[T]) -> T:
        """Run work in a write transaction, retried on transient errors; any exception rolls it back."""

        async def body(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(Transaction(tx))

        with _translated(self.uri, self.database):
            async with self._session(neo4j.WRITE_ACCESS) as session:
                return await session.execute_write(body)

    async def query(self, name: str, **parameters: Any) -> list[Row]:
        """Read with one statement."""
        return await self.read(lambda tx: tx.run(name, **parameters))

    async def schema(self, name: str, **parameters: Any) -> list[Row]:
        """Run one schema statement; that it was made already, by a racing process too, is success."""
        try:
            return await self.write(lambda tx: tx.run(name, **parameters))
        except StoreError as error:
            code = getattr(error.__cause__, "code", None) or ""
            if code.endswith("AlreadyExists"):
                return []
            raise

    async def server_version(self) -> str:
        """The server's version, e.g. ``2026.09.0``."""
        with _translated(self.uri, self.database):
            info = await self._driver.get_server_info()  # pyright: ignore[reportUnknownMemberType]
        return info.agent.removeprefix("Neo4j/")


def epoch_millis(time: datetime) -> float:
    """Milliseconds since 1970, as Neo4j's ``datetime.epochMillis`` counts them."""
    return time.timestamp() * 1000
