"""The store's handles: ``AsyncMemory`` holds the code, ``Memory`` runs it on an event loop in a thread of its own."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio

from graphmem.agent import Agent
from graphmem.async_agent import AsyncAgent
from graphmem.async_talks import AsyncTalks
from graphmem.async_transfer import AsyncTransfer
from graphmem.async_worlds import AsyncWorlds
from graphmem.cognition import forget, look_up, reembed, trust, work
from graphmem.cognition.engine import Engine, checked_id
from graphmem.cognition.given import checked_function, checked_model
from graphmem.models import (
    AgentForgotten,
    AgentInfo,
    Changed,
    ModelCheck,
    Reembedded,
    StoreInfo,
    StoreStatus,
    WorkReport,
)
from graphmem.settings import Settings, load_settings
from graphmem.talks import Talks
from graphmem.threads import Portal, documented_by, in_thread
from graphmem.tracing import traced
from graphmem.transfer import Transfer
from graphmem.worlds import Worlds

if TYPE_CHECKING:
    from graphmem.embedding.base import Embedder
    from graphmem.graph.store import Store
    from graphmem.language.base import LanguageModel, Task

T = TypeVar("T")
_log = logging.getLogger("graphmem")

Progress = Callable[[str, float | None], None]
"""Told what is going on and how far it is, in [0, 1]; None where that is not known."""


def agents_on_running_server(settings: Settings, prefix: str, *, limit: int, seconds: float) -> tuple[str, ...]:
    """Ids of agents that begin so, for completion in a shell; without a server there are none.

    Raises:
        GraphmemError: When the settings are refused, or the server cannot be asked.
        TimeoutError: When it takes longer than so many seconds.
    """
    return _looking(settings, partial(look_up.agent_ids, prefix=prefix, limit=limit), seconds=seconds) or ()


def look(settings: Settings) -> StoreStatus | None:
    """How the store is, whatever made it and for whichever model; None without a server.

    Raises:
        GraphmemError: When the settings are refused, or the server cannot be asked.
    """
    return _looking(settings, look_up.status)


def _looking(settings: Settings, ask: Callable[[Store], Awaitable[T]], *, seconds: float | None = None) -> T | None:
    """Ask a server that runs: nothing is started or fetched, no model loaded, no schema made or checked."""
    from graphmem.graph import embedded
    from graphmem.graph.store import Store

    if settings.uri is not None:
        address, account, secret = settings.uri, settings.user, settings.password
    elif found := embedded.find(settings):
        address, account, secret = found.uri, found.user, found.password
    else:
        return None

    async def connect() -> T:
        with anyio.fail_after(seconds):
            store = await Store.connect(
                address,
                account,
                secret.get_secret_value() if secret else "",
                settings.database,
                retry_seconds=settings.retry_timeout,
            )
            try:
                return await ask(store)
            finally:
                await store.close()

    return anyio.run(connect)


class _Told:
    """Progress that nobody asked for: logged, and told to a person who looks on and would wonder; each step once."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, message: str, _fraction: float | None) -> None:
        if message == self._last:
            return
        self._last = message
        _log.info("%s", message)
        stream = sys.stderr
        if stream and (stream.isatty() or hasattr(sys, "ps1")):  # a terminal; a prompt or a notebook
            stream.write(f"graphmem: {message} …\n")
            stream.flush()


async def _connected(settings: Settings, tell: Progress) -> tuple[Store, str | None]:
    """The store that the settings name, and the address of Neo4j Browser on the embedded server."""
    from graphmem.graph.store import Store

    browser_url = None
    if settings.uri is None:
        from graphmem.graph import embedded

        stop = threading.Event()
        connection = await in_thread(partial(embedded.ensure_running, settings, progress=tell, stop=stop), stop=stop)
        address, account, secret = connection.uri, connection.user, connection.password
        browser_url = connection.browser_url
    else:
        address, account, secret = settings.uri, settings.user, settings.password
    store = await Store.connect(
        address,
        account,
        secret.get_secret_value() if secret else "",
        settings.database,
        retry_seconds=settings.retry_timeout,
    )
    return store, browser_url


async def _embedder(settings: Settings, tell: Progress) -> Embedder:
    """The embedder that the settings name, its files fetched."""
    from graphmem import embedding

    def fetched(done: int, total: int) -> None:
        tell("fetching the embedding model", done / total if total else None)

    return await in_thread(partial(embedding.load, settings, progress=fetched))


@traced
class AsyncMemory(AsyncTalks, AsyncWorlds, AsyncTransfer):
    """A memory store. Open it with :meth:`open`, use it in that event loop, and close it; or ``async with``."""

    def __init__(self, engine: Engine, browser_url: str | None) -> None:
        self._engine = engine
        self.browser_url = browser_url
        """Address of Neo4j Browser on the embedded server; None for a server of your own."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._engine.settings

    @property
    def uri(self) -> str:
        """The Bolt address in use."""
        return self._engine.store.uri

    @classmethod
    async def open(
        cls,
        uri: str | None = None,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        language_model: LanguageModel | None = None,
        prompts: Sequence[type[Task[Any]]] = (),
        agents: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> AsyncMemory:
        """Connect to Neo4j, or to the embedded server, which is fetched and started when it is not running.

        Args:
            uri: Bolt address of a Neo4j ≥ 2026.09; by default ``GRAPHMEM_URI``, else the embedded server.
            user: User name for it.
            password: Password for it.
            database: Which of its databases.
            settings: Use these instead of environment and arguments.
            embedder: Your own; by default the model of ``settings.embedding``.
            language_model: Your own; by default that of ``settings.language_model``.
            prompts: Prompts of your own: subclasses of the tasks of :mod:`graphmem.language.prompts`.
            agents: Ids of agents that must be there already, which is seen before a model is fetched or loaded.
            progress: Told about fetching and starting, which the first time takes half a minute or more. By default
                that is logged (``graphmem``, INFO) and, in a terminal or a notebook, written to standard error.

        Raises:
            InvalidSettings: When a setting is refused.
            InvalidInput: When a prompt or model of your own is.
            LocalServerError: When the embedded server cannot be fetched or started.
            UnknownAgent: When nothing was ever written for one of ``agents``.
            StoreUnavailable, AuthenticationFailed: When the server cannot be reached, or refuses the account.
            SchemaMismatch: When the store was made for another embedding model, or by a newer graphmem.
            IndexUnavailable: When an index is missing, failed, or not online in time.
        """
        from graphmem import embedding, language
        from graphmem.graph import schema
        from graphmem.language.own import own_prompts

        own = own_prompts(prompts)
        checked_model(embedder, embedding.Embedder, "embedder", setting="embedding")
        checked_model(language_model, language.LanguageModel, "language_model", setting="language_model")
        settings = settings or load_settings(uri=uri, user=user, password=password, database=database)
        if embedder is None:
            embedding.check_name(settings.embedding)
        tell = progress or _Told()
        store, browser_url = await _connected(settings, tell)
        try:
            if agents:
                schema.check_server(await store.server(), store.uri)
                await look_up.must_exist(store, *(checked_id(agent, "agent") for agent in agents))
            embedder = embedder or await _embedder(settings, tell)
            if progress:
                progress("preparing the schema", None)
            await schema.prepare(store, embedder, analyzer=settings.analyzer, wait_seconds=settings.index_timeout)
        except BaseException:
            await store.close()
            raise
        engine = Engine(store, embedder, language_model or language.load(settings), settings, prompts=own)
        return cls(engine, browser_url)

    @classmethod
    async def reembed(
        cls,
        embedding: str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        progress: Progress | None = None,
    ) -> Reembedded:
        """Move a store to another embedding model, of any dimension; what was cut off goes on when called again.

        Others may use the store until the vectors of the new model are made. Then, for as long as it takes to put them
        in place and build the index, and from then on, whoever has it open for the old model gets
        ``EmbeddingModelChanged`` where a vector is read or written; opening waits for the end.

        Args:
            embedding: The model to move to, as ``settings.embedding`` names it; by default that one.
            settings: Use these instead of the environment.
            embedder: Your own, in the place of ``embedding``.
            progress: Told what is going on and how far it is, in [0, 1].

        Raises:
            InvalidSettings: When there is no such model.
            InvalidInput: When ``embedder`` is none.
            EmbeddingModelChanged: When a move to a third model is in its switch.
            EmbeddingError: When the new model fails on everything; what was embedded is kept.
            StoreUnavailable: When another process has been moving the store for too long.
            SchemaMismatch, IndexUnavailable: As :meth:`open`.
        """
        from graphmem import language
        from graphmem.embedding import Embedder as protocol
        from graphmem.graph import schema

        checked_model(embedder, protocol, "embedder", setting="embedding")
        settings = load_settings(settings, embedding=embedding)
        tell = progress or _Told()
        store, _ = await _connected(settings, tell)
        try:
            embedder = embedder or await _embedder(settings, tell)
            await schema.prepare_to_move(
                store, embedder, analyzer=settings.analyzer, wait_seconds=settings.index_timeout
            )
            return await reembed.reembed(Engine(store, embedder, language.load(settings), settings), progress=tell)
        finally:
            await store.close()

    async def close(self) -> None:
        """Close the connections; the embedded server stays up for others until ``graphmem down``."""
        await self._engine.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def agent(self, id: str) -> AsyncAgent:
        """An agent's handle; the agent itself is created by its first write.

        Raises:
            InvalidInput: When the id is blank, not a string, longer than 512 characters, or cannot be stored.
        """
        return AsyncAgent(self._engine, id)

    async def agents(self) -> tuple[AgentInfo, ...]:
        """Every agent, with how much it remembers."""
        return await look_up.agents(self._engine.store)

    async def info(self) -> StoreInfo:
        """Where the store is, on which server, what it was made for, and how much it holds."""
        return (await look_up.store_info(self._engine.store))[0]

    async def status(self) -> StoreStatus:
        """How the store is: memories by kind and status, what waits, its indexes, what thinking has cost."""
        return await look_up.status(self._engine.store)

    async def check_model(self) -> ModelCheck:
        """Whether the language model can be trusted, by tasks whose answers are known; nothing is stored.

        It rates the anchors of Park et al. (cleaning a room is at most 3, asking a crush out at least 7, …) and infers
        insights from a small story. A model that fails is in the report.
        """
        return await trust.check_model(self._engine)

    def on_change(self, callback: Callable[[Changed], Awaitable[None] | None]) -> Callable[[], None]:
        """Have a function told of each change of belief made through this memory, once it is committed.

        A coroutine function is waited for, so keep it short. One that fails costs the change nothing: it is logged.
        What other processes change is in each agent's ``log``.

        Returns:
            A function that ends it.

        Raises:
            InvalidInput: When it is no function.
        """
        checked_function(callback, "callback")
        listeners = self._engine.listeners
        listeners.append(callback)
        return lambda: listeners.remove(callback) if callback in listeners else None

    async def forget_agent(self, id: str, *, dry_run: bool = False) -> AgentForgotten:
        """Delete a whole agent with all its memories, runs and changes; what other agents heard from it stays theirs.

        Raises:
            UnknownAgent: When nothing was ever written for it.
        """
        return await forget.forget_agent(self._engine, checked_id(id, "agent"), dry_run=dry_run)

    async def work_once(self, *, agent: str | None = None, now: object = None) -> WorkReport:
        """Do all that is pending now: missing embeddings and ratings, stale memories, due reflections.

        Safe in several processes at once. What one agent's model fails at is in the report.

        Raises:
            InvalidInput: When the agent's id is refused.
        """
        agent_id = checked_id(agent, "agent") if agent is not None else None
        return await work.work_once(self._engine, agent_id=agent_id, now=now)


@documented_by(AsyncMemory)
class Memory(Talks, Worlds, Transfer):
    """A memory store, synchronously: works in scripts, in threads, and inside a running event loop (notebooks)."""

    def __init__(self, memory: AsyncMemory, portal: Portal) -> None:
        self._memory = memory
        self._talks = memory
        self._worlds = memory
        self._transfer = memory
        self._portal = portal

    @property
    def browser_url(self) -> str | None:
        """Address of Neo4j Browser on the embedded server; None for a server of your own."""
        return self._memory.browser_url

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._memory.settings

    @property
    def uri(self) -> str:
        """The Bolt address in use."""
        return self._memory.uri

    @classmethod
    def open(
        cls,
        uri: str | None = None,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        language_model: LanguageModel | None = None,
        prompts: Sequence[type[Task[Any]]] = (),
        agents: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Memory:
        """See :meth:`AsyncMemory.open`."""
        portal = Portal()
        try:
            memory = portal.call(
                partial(
                    AsyncMemory.open,
                    uri,
                    user=user,
                    password=password,
                    database=database,
                    settings=settings,
                    embedder=embedder,
                    language_model=language_model,
                    prompts=prompts,
                    agents=agents,
                    progress=progress,
                )
            )
        except BaseException:
            portal.close()
            raise
        return cls(memory, portal)

    @classmethod
    def reembed(
        cls,
        embedding: str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        progress: Progress | None = None,
    ) -> Reembedded:
        """See :meth:`AsyncMemory.reembed`."""
        portal = Portal()
        try:
            return portal.call(
                partial(AsyncMemory.reembed, embedding, settings=settings, embedder=embedder, progress=progress)
            )
        finally:
            portal.close()

    def close(self) -> None:
        """See :meth:`AsyncMemory.close`."""
        self._portal.close(self._memory.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def agent(self, id: str) -> Agent:
        """See :meth:`AsyncMemory.agent`."""
        return Agent(self._memory.agent(id), self._portal)

    def agents(self) -> tuple[AgentInfo, ...]:
        """See :meth:`AsyncMemory.agents`."""
        return self._portal.call(self._memory.agents)

    def info(self) -> StoreInfo:
        """See :meth:`AsyncMemory.info`."""
        return self._portal.call(self._memory.info)

    def status(self) -> StoreStatus:
        """See :meth:`AsyncMemory.status`."""
        return self._portal.call(self._memory.status)

    def check_model(self) -> ModelCheck:
        """See :meth:`AsyncMemory.check_model`."""
        return self._portal.call(self._memory.check_model)

    def on_change(self, callback: Callable[[Changed], Awaitable[None] | None]) -> Callable[[], None]:
        """See :meth:`AsyncMemory.on_change`. The function runs in a thread of its own and may use this memory."""
        checked_function(callback, "callback")

        async def told(changed: Changed) -> None:
            answer = await in_thread(partial(callback, changed))
            if answer is not None:
                await answer

        return self._memory.on_change(told)

    def forget_agent(self, id: str, *, dry_run: bool = False) -> AgentForgotten:
        """See :meth:`AsyncMemory.forget_agent`."""
        return self._portal.call(partial(self._memory.forget_agent, id, dry_run=dry_run))

    def work_once(self, *, agent: str | None = None, now: object = None) -> WorkReport:
        """See :meth:`AsyncMemory.work_once`."""
        return self._portal.call(partial(self._memory.work_once, agent=agent, now=now))
