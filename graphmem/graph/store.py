"""The only module that talks to the Neo4j driver: sessions, managed transactions, errors.

Every statement goes through :class:`Transaction.run`, by the name of its file, with its parameters checked. Reads
and writes are managed transactions, which the driver retries on transient errors; work passed to them may
therefore run more than once and must not do anything but queries.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from secrets import randbits
from typing import Any, LiteralString, TypeVar

import neo4j
from neo4j import exceptions as driver_errors

from graphmem.errors import (
    EmbeddingModelChanged,
    GraphmemError,
    IndexUnavailable,
    InvalidSettings,
    OutcomeUnknown,
    StoreError,
    StoreInconsistent,
    StoreUnavailable,
    UnsupportedServer,
)
from graphmem.graph.addresses import BOLT_PORT, checked_address, one_line, unreachable
from graphmem.graph.made_for import EmbeddingModel, Row, with_vectors
from graphmem.graph.queries import Query, queries
from graphmem.graph.refusals import FAULT, Target, refusal
from graphmem.graph.values import Vanished, decode, encode
from graphmem.tracing import span

T = TypeVar("T")

# The driver logs what it raises as well. Without a handler of the program's own, Python would print that.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


def _translate(error: BaseException, target: _Target) -> GraphmemError:
    """The driver's error as ours, with what a person can do about it."""
    if isinstance(error, driver_errors.Neo4jError):
        return refusal(
            target,
            code=error.code or "",
            message=one_line(error.message or error),
            account=isinstance(error, driver_errors.AuthError),
            away=isinstance(error, driver_errors.DatabaseUnavailable),
        )
    if isinstance(error, driver_errors.UnsupportedServerProduct):
        return UnsupportedServer(
            f"what answers at {target.uri} is not a Neo4j that graphmem can talk to",
            remedy=f"check the address; {BOLT_PORT}",
        )
    if isinstance(error, driver_errors.IncompleteCommit):
        return OutcomeUnknown(
            f"the connection to {target.uri} broke while a change was committed; whether it was made is not known",
            remedy="look before you do it again; what has an id of yours can be observed again without harm",
        )
    if isinstance(error, driver_errors.ServiceUnavailable | driver_errors.SessionExpired):
        return unreachable(error, target.uri)
    return StoreError(f"the Neo4j driver failed: {type(error).__name__}: {one_line(error)}", remedy=FAULT)


_CONNECT_SECONDS = 10.0
"""How long the server may take to accept one connection."""


class _Target(Target):
    """What a store is connected to, whose errors are ours."""

    @contextmanager
    def translated(self) -> Generator[None]:
        """Raise the driver's errors as ours; the cause stays attached."""
        try:
            yield
        except (driver_errors.Neo4jError, driver_errors.DriverError) as error:
            raise _translate(error, self) from error


_CALL = {"db.system.name": "neo4j"}
"""What spans say of each statement, in the words of OpenTelemetry's conventions."""
_MADE_FOR = "store/schema"
_READS_VECTORS = ".embedding AS embedding"
"""How a statement returns stored vectors."""


class Transaction:
    """One open transaction."""

    def __init__(self, tx: neo4j.AsyncManagedTransaction, model: EmbeddingModel | None = None) -> None:
        self._tx = tx
        self._model = model
        self._commit = randbits(63)
        self.marked: dict[str, list[int]] = {}
        """The agents that carry this transaction's mark once it is committed, each with the marks before it."""

    async def run(self, name: str, **parameters: Any) -> list[Row]:
        """Run the statement of that name and return all its rows; ``$commit`` is filled in.

        Raises:
            EmbeddingModelChanged: When it used vectors of a model that the store is not for any more.
        """
        query = queries[name]
        marks = "commit" in query.parameters
        if marks:
            parameters["commit"] = self._commit
        query.check(parameters)
        rows = await self._rows(query, {key: encode(value) for key, value in parameters.items()})
        if marks and rows:
            self.marked.setdefault(parameters["agentId"], rows[0]["commits"])
        if self._model is not None and (with_vectors(parameters) or _READS_VECTORS in query.text):
            # Asked afterwards: a move to another model says so before it changes the first vector.
            self._model.check(await self._rows(queries[_MADE_FOR], {}))
        return rows

    async def _rows(self, query: Query, parameters: dict[str, Any]) -> list[Row]:
        with span(f"neo4j {query.name}", _CALL | {"db.operation.name": query.name}, client=True) as recorder:
            result = await self._tx.run(query.text, parameters)
            rows = [decode(record.data()) for record in await result.fetch(_ALL)]
            if not all(map(query.whole, rows)):
                raise Vanished
            recorder.note({"db.response.returned_rows": len(rows)})
        return rows

    def is_among(self, commits: Sequence[int], before: Sequence[int]) -> bool | None:
        """Whether it was committed, by an agent's last marks now and those it saw itself; None: too many came since."""
        if self._commit in commits:
            return True
        known = not set(commits).isdisjoint(before) if before else len(commits) < MARKS
        return False if known else None

    async def one(self, name: str, **parameters: Any) -> Row | None:
        """Run a statement that returns at most one row.

        Raises:
            StoreInconsistent: When it returns more.
        """
        rows = await self.run(name, **parameters)
        if len(rows) > 1:
            raise StoreInconsistent(
                f"query {name} returned {len(rows)} rows where one was expected",
                remedy="graphmem doctor names what is wrong in the graph of an agent",
            )
        return rows[0] if rows else None


_ALL = 2**31 - 1
_TRIES = 6
"""How often work is begun that meets nodes which are deleted meanwhile."""
MARKS = 32
"""Marks of transactions that an agent keeps, as the statements that lock it say."""

Work = Callable[[Transaction], Awaitable[T]]


class Store:
    """A connection pool to one database, with one bookmark manager, so that one's own writes are always seen."""

    def __init__(self, driver: neo4j.AsyncDriver, target: _Target, *, retry_seconds: float = 0) -> None:
        self.uri = target.uri
        self.database = target.database
        self._retry_seconds = retry_seconds
        self._target = target
        self._driver = driver
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._away = False
        """Whether the last call gave up because there was no connection."""
        self.model: EmbeddingModel | None = None
        """Whose vectors are read and written; None: nobody's yet."""

    @classmethod
    async def connect(cls, uri: str, user: str, password: str, database: str, *, retry_seconds: float) -> Store:
        """Open the pool and check that the server answers, accepts the account and has the database.

        Args:
            uri: Address.
            user: Account there.
            password: Its password.
            database: Which database.
            retry_seconds: How long a transaction that failed for a passing reason is tried again, at growing
                intervals; the last try begins at most half as much later.

        Raises:
            InvalidSettings: When the address is not one of Neo4j's.
            StoreUnavailable: When there is no server at the address.
            UnsupportedServer: When something else answers there.
            AuthenticationFailed: When it refuses the account.
            StoreError: When there is no such database, or the server fails otherwise.
        """
        target = _Target(checked_address(uri), database, user, has_password=bool(password))
        try:
            driver = neo4j.AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - its **config
                uri,
                auth=(user, password),
                notifications_min_severity="OFF",
                connection_timeout=_CONNECT_SECONDS,
                connection_acquisition_timeout=60,
                max_transaction_retry_time=retry_seconds,
            )
        except (driver_errors.ConfigurationError, ValueError) as error:
            raise InvalidSettings(
                f"{uri!r} is not a Neo4j address: {one_line(error)}",
                setting="uri",
                remedy="use bolt://host:7687, or neo4j+s://… for Aura and clusters",
            ) from error
        store = cls(driver, target, retry_seconds=retry_seconds)
        try:
            if database == "system":
                raise StoreError(
                    f"the database 'system' at {uri} holds accounts, no graph",
                    remedy="set GRAPHMEM_DATABASE (or --database) to another one, such as neo4j",
                )
            with target.translated():
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
        """Run work in a read transaction, retried on transient errors, also when it breaks at its very end."""
        began = time.monotonic()
        while True:
            try:
                return await self._managed(neo4j.READ_ACCESS, work)
            except OutcomeUnknown as error:
                self._check_time(began, error)

    async def write(self, work: Work[T]) -> T:
        """Run work in a write transaction, retried on transient errors; any exception rolls it back.

        When the connection breaks while it is committed, the agents that it locked tell whether it was: then its result
        is returned, else it is done again. A transaction that locks no agent is one that does nothing when done twice.

        Raises:
            OutcomeUnknown: When the server cannot be asked.
        """
        began = time.monotonic()
        while True:
            last: list[tuple[Transaction, T]] = []

            async def kept(tx: Transaction, last: list[tuple[Transaction, T]] = last) -> T:
                result = await work(tx)
                last[:] = [(tx, result)]
                return result

            try:
                return await self._managed(neo4j.WRITE_ACCESS, kept)
            except OutcomeUnknown as error:
                transaction, result = last[0]
                if await self._was_committed(transaction, error):
                    return result
                self._check_time(began, error)

    def _check_time(self, began: float, error: OutcomeUnknown) -> None:
        """Give up what has been tried again for too long.

        Raises:
            StoreUnavailable: Then nothing was changed.
        """
        if time.monotonic() - began > self._retry_seconds:
            raise StoreUnavailable(
                f"the connection to {self.uri} breaks at the end of every transaction; nothing was changed",
                remedy="check the network, and what stands between this machine and the server",
            ) from error

    async def _was_committed(self, transaction: Transaction, error: OutcomeUnknown) -> bool:
        """Ask an agent that a transaction locked; the lock is waited for, so that the transaction has ended.

        Raises:
            OutcomeUnknown: When the agent cannot be asked, or no longer knows.
        """
        if not transaction.marked:
            return False
        agent_id, before = next(iter(transaction.marked.items()))
        found: list[Row | None] = []

        async def ask(tx: neo4j.AsyncManagedTransaction) -> None:
            found[:] = [await Transaction(tx).one("agent/commits", agentId=agent_id)]

        try:
            await self._execute(neo4j.WRITE_ACCESS, ask)
        except OutcomeUnknown:
            pass  # It changes nothing; what was read under the lock holds.
        except StoreUnavailable as away:
            raise error from away
        committed = transaction.is_among(found[0]["commits"] if found[0] else [], before)
        if committed is None:
            raise error
        return committed

    async def _managed(self, access: str, work: Work[T]) -> T:
        async def body(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(Transaction(tx, self.model))

        try:
            return await self._steady(access, body)
        except StoreError as error:
            if self.model is not None and type(error) in (StoreError, IndexUnavailable):
                # It may be that the index is another's by now, or gone for a moment.
                rows = await self._execute(neo4j.READ_ACCESS, lambda tx: Transaction(tx).run(_MADE_FOR))
                try:
                    self.model.check(rows)
                except EmbeddingModelChanged as changed:
                    raise changed from error
            raise

    async def _steady(self, access: str, body: Callable[[neo4j.AsyncManagedTransaction], Awaitable[T]]) -> T:
        """Begin again when a node that a statement has found is deleted before it is read: then it is not found."""
        began, tries, pause = time.monotonic(), 0, 0.01
        while tries < _TRIES:
            try:
                return await self._execute(access, body)
            except Vanished as vanished:
                if not vanished.surely or time.monotonic() - began > self._retry_seconds:
                    tries += 1
                await asyncio.sleep(pause)
                pause = min(2 * pause, 0.2)
        raise StoreInconsistent(
            f"a node lacks what each of its kind has, or nodes are deleted too fast to be read ({tries} tries)",
            remedy="graphmem doctor names what is wrong in the graph of an agent",
        )

    async def _execute(self, access: str, body: Callable[[neo4j.AsyncManagedTransaction], Awaitable[T]]) -> T:
        with self._target.translated():
            try:
                async with self._session(access) as session:
                    if self._away:
                        # Waited for once already. What tidies up after that failure must not wait as long again.
                        await self._driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
                    execute = session.execute_read if access == neo4j.READ_ACCESS else session.execute_write
                    result = await execute(body)
            except (driver_errors.ServiceUnavailable, driver_errors.SessionExpired) as error:
                self._away = not isinstance(error, driver_errors.IncompleteCommit)
                raise
        self._away = False
        return result

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

    async def understands(self, name: str, **parameters: Any) -> str | None:
        """Have the server plan a statement without running it; the indexes that it names need not be there.

        Returns:
            None, or why the server cannot run it.
        """
        query = queries[name]
        statement: LiteralString = "EXPLAIN " + query.text

        async def body(tx: neo4j.AsyncManagedTransaction) -> None:
            await (await tx.run(statement, parameters)).consume()

        with self._target.translated():
            try:
                async with self._session(neo4j.WRITE_ACCESS) as session:
                    await session.execute_write(body)
            except driver_errors.ClientError as error:
                code = error.code or ""
                if code.endswith(_NOT_UNDERSTOOD):
                    return one_line(error.message)
                if not code.endswith("Schema.IndexNotFound"):
                    raise
        return None

    async def server(self) -> str:
        """What the server says it is, e.g. ``Neo4j/2026.09.0``."""
        with self._target.translated():
            info = await self._driver.get_server_info()  # pyright: ignore[reportUnknownMemberType]
        return info.agent


class Reader:
    """A pool of synchronous sessions that can read one database and write nothing: for neomodel's classes.

    It has what neomodel asks of a driver. That nothing is written is the server's doing, not a convention.
    """

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        self._driver = driver
        self._database = database

    @classmethod
    def connect(cls, uri: str, user: str, password: str, database: str) -> Reader:
        """Open the pool and check that the server answers and accepts the account.

        Raises:
            InvalidSettings: When the address is not one of Neo4j's.
            StoreUnavailable: When there is no server at the address.
            UnsupportedServer: When something else answers there.
            AuthenticationFailed: When it refuses the account.
            StoreError: When there is no such database, or the server fails otherwise.
        """
        target = _Target(checked_address(uri), database, user, has_password=bool(password))
        driver = neo4j.GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - its **config
            uri, auth=(user, password), notifications_min_severity="OFF", connection_acquisition_timeout=60
        )
        reader = cls(driver, database)
        try:
            with target.translated():
                driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
                with reader.session() as session:
                    session.run(queries["store/schema"].text).consume()
        except BaseException:
            driver.close()
            raise
        return reader

    def session(self, **config: Any) -> neo4j.Session:
        """A session that reads this database, whatever else is asked for."""
        fixed = {"database": self._database, "default_access_mode": neo4j.READ_ACCESS}
        return self._driver.session(**{**config, **fixed})  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Close the pool; calling it again does nothing."""
        self._driver.close()


_NOT_UNDERSTOOD = (
    ".Statement.SyntaxError",
    ".Statement.ArgumentError",
    ".Statement.SemanticError",
    ".Statement.UnsupportedOperationError",
    ".Statement.UnsupportedAdministrationCommand",
)
