"""What every verb works with: the store, the two models, the clock, and how texts are embedded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import Any

import anyio
import numpy as np
from pydantic import ValidationError

from graphmem.clock import as_utc, system_now
from graphmem.embedding.base import Embedder, Vectors, usable
from graphmem.errors import (
    EmbedderAuthenticationFailed,
    EmbedderUnavailable,
    EmbeddingError,
    GraphmemError,
    InvalidInput,
    LanguageModelError,
    ReplyRefused,
    UnknownAgent,
    UnknownMemory,
)
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Store, Transaction
from graphmem.language.base import LanguageModel, Reply, Task, Window, Windowed, estimate_tokens
from graphmem.language.own import Prompts
from graphmem.models import MAX_ID, AnyMemory, Changed, storable
from graphmem.settings import Settings
from graphmem.threads import in_thread
from graphmem.tracing import Recorder, span

_log = logging.getLogger("graphmem")

CALLER = "caller"
"""Who changed a belief through the API, in the log and on SUPERSEDES."""
TIDY_SECONDS = 10
"""How long a failed call may take to give back what it had claimed; a lease ends by itself otherwise."""


Listener = Callable[[Changed], Awaitable[None] | None]
"""What is told of changes: a function, or a coroutine function, which is waited for."""


@dataclass(frozen=True)
class Engine:
    """One open memory store with its models."""

    store: Store
    embedder: Embedder
    language_model: LanguageModel
    settings: Settings
    prompts: Prompts = field(default_factory=dict[type[Task[Any]], type[Task[Any]]])
    """What is asked in the place of a task of graphmem's, by the caller's choice."""
    listeners: list[Listener] = field(default_factory=list[Listener])
    """Told of each change of belief once it is committed."""

    async def tell(self, changed: Changed) -> None:
        """Tell the listeners. One that fails costs nobody else anything, since the change is made: it is logged."""
        for listener in tuple(self.listeners):
            try:
                answer = listener(changed)
                if answer is not None:
                    await answer
            except Exception:
                _log.exception("a listener failed on %s of agent %s", changed.verb, changed.agent_id)

    def asks(self, *tasks: type[Task[Any]]) -> str:
        """The versions of the prompts in use for these tasks, as a run records them."""
        return " ".join(self.prompts.get(task, task).prompt_version for task in tasks)

    def own(self, task: Task[Any]) -> Task[Any]:
        """The task with the caller's prompt, where there is one."""
        own = self.prompts.get(type(task))
        return task if own is None else own.model_validate(dict(task))

    async def now(self, agent_id: str, given: object = None) -> datetime:
        """The time of a call: what the caller gave, else the agent's simulated clock, else the machine's.

        Raises:
            InvalidTime: When the time given is naive or unreadable.
        """
        if given is not None:
            return as_utc(given)
        rows = await self.store.query("agent/state", agentId=agent_id)
        return (rows[0]["clock"] if rows else None) or system_now()

    async def embed_documents(self, texts: Sequence[str]) -> list[Vectors | None]:
        """Embed texts; None where the model failed on that text or gave a vector that cannot be used.

        A batch that fails is tried again one text at a time, so that one poisoned text does not cost the others;
        not so when the embedder's provider cannot be reached.
        """
        if not texts:
            return []
        try:
            with self._embedding(len(texts)):
                vectors = list(await in_thread(partial(self.embedder.embed_documents, list(texts))))
        except (EmbedderUnavailable, EmbedderAuthenticationFailed) as error:
            # No fault of a text's: asked one by one, a provider that is down would be waited for as many times.
            _log.warning("%d texts were not embedded: %s", len(texts), error)
            return [None] * len(texts)
        except Exception as error:
            # Embedders are the caller's, and fail with errors of their own.
            if len(texts) == 1:
                _log.warning("%s could not embed a text: %s: %s", self.embedder.name, type(error).__name__, error)
                return [None]
        else:
            found = [self._vector(vector) for vector in vectors]
            whole = len(found) == len(texts)
            if whole and (len(texts) == 1 or all(vector is not None for vector in found)):
                return found
            if len(texts) == 1:
                return [None]
        return [(await self.embed_documents([text]))[0] for text in texts]

    async def embed_query(self, text: str) -> Vectors:
        """Embed a question.

        Raises:
            EmbeddingError: When the model fails or gives a vector that cannot be used.
        """
        try:
            with self._embedding(1):
                vector = await in_thread(partial(self.embedder.embed_query, text))
        except EmbeddingError:
            raise
        except Exception as error:
            raise EmbeddingError(
                f"{self.embedder.name} failed on the query: {type(error).__name__}: {error}"
            ) from error
        checked = self._vector(vector)
        if checked is None:
            raise EmbeddingError(f"{self.embedder.name} gave no usable vector for the query {text[:80]!r}")
        return checked

    def _embedding(self, texts: int) -> AbstractContextManager[Recorder]:
        name = self.embedder.name
        told = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": name, "graphmem.texts": texts}
        return span("embeddings", told, client=True)

    def _vector(self, given: object) -> Vectors | None:
        return np.asarray(given, dtype=np.float32) if usable(given, self.embedder.dimension) else None


async def answer(model: LanguageModel, task: Task[Any], *, texts: bool = False) -> Reply[Any]:
    """Ask the language model, which may be the caller's own: its errors become ours, its reply is checked again.

    Raises:
        LanguageModelError: When the model fails, or answers with something that is no reply to this task.
        ReplyRefused: When the reply does not fit the task's model.
    """
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model.name, "graphmem.task": type(task).__name__}
    try:
        with span("chat", told, client=True) as recorder:
            reply = await model.reply(task)
            if isinstance(reply, Reply):  # pyright: ignore[reportUnnecessaryIsInstance] - it may be the caller's model
                recorder.note(_spent(reply))
                recorder.note(_said(task, reply) if texts else {})
    except GraphmemError:
        raise
    except Exception as error:
        raise LanguageModelError(f"{model.name} failed: {type(error).__name__}: {error}") from error
    if not isinstance(reply, Reply) or not isinstance(reply.value, task.reply_model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise LanguageModelError(
            f"{model.name} did not answer {type(task).__name__} with a {task.reply_model.__name__}"
        )
    try:
        value = task.reply_model.model_validate(reply.value.model_dump(warnings=False))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ReplyRefused(f"{field}: {first['msg']}", gate="shape") from error
    return reply.model_copy(update={"value": value})


def _spent(reply: Reply[Any]) -> dict[str, int | float | None]:
    """What a reply has cost, as spans tell it."""
    return {
        "gen_ai.usage.input_tokens": reply.prompt_tokens,
        "gen_ai.usage.output_tokens": reply.completion_tokens,
        "graphmem.cost": reply.cost,
        "graphmem.refused": len(reply.refused),
    }


def _said(task: Task[Any], reply: Reply[Any]) -> dict[str, str | None]:
    """What was asked and answered, for spans that may hold texts."""
    prompt = "\n".join(f"{message.role}: {message.content}" for message in task.messages())
    return {"graphmem.prompt": prompt, "graphmem.reply": reply.raw}


async def window_of(engine: Engine) -> Window:
    """What the language model reads and writes at a time."""
    model = engine.language_model
    if isinstance(model, Windowed):
        return await model.window()
    settings = engine.settings
    return Window(settings.model_prompt_tokens, settings.model_max_tokens, estimate_tokens)


async def tidy_up(work: Callable[[], Awaitable[object]]) -> None:
    """Do what must follow a failure or a cancellation, within a bound; one more cancellation waits until it is done.

    Its own failure is logged and not raised: what the caller needs to see is the first one.
    """

    async def bounded() -> None:
        with anyio.move_on_after(TIDY_SECONDS):
            try:
                await work()
            except UnknownAgent:
                pass  # It was forgotten, and with it what there was to tidy up.
            except GraphmemError as error:
                _log.warning("could not tidy up after a failure: %s", error)

    # A task of its own: anyio's shield does not hold off what asyncio itself cancels, a timeout within a timeout.
    tidying = asyncio.create_task(bounded())
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not tidying.done():
            try:
                await asyncio.wait([tidying])
            except asyncio.CancelledError as again:
                cancelled = again
    tidying.result()
    if cancelled is not None:
        raise cancelled


def checked_id(value: object, what: str = "id") -> str:
    """An agent's or memory's id as given by a caller.

    Raises:
        InvalidInput: When it is not a string, blank, longer than 512 characters, or cannot be stored.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{what}: {value!r} is not a string")
    if not value.strip():
        raise InvalidInput(f"{what}: is empty or blank")
    if len(value) > MAX_ID:
        raise InvalidInput(f"{what}: has {len(value)} characters, at most {MAX_ID} are allowed")
    try:
        return storable(value)
    except ValueError as error:
        raise InvalidInput(f"{what}: {error}") from error


MOST = 10_000
"""Most items on one page of a list."""


def checked_limit(limit: object) -> int:
    """How many items a page may have.

    Raises:
        InvalidInput: When it is not a whole number from 1 to 10,000.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        raise InvalidInput(f"limit: {limit!r} is not a whole number from 1 to {MOST:,}")
    return limit


def new_id() -> str:
    """An id of 24 hexadecimal digits: the time first, so that ids sort by it, then chance."""
    return f"{time.time_ns() // 1_000_000:012x}{token_hex(6)}"


def first_id(at: float) -> str:
    """What ids made from this time on, in seconds since the epoch, do not sort before."""
    return f"{int(at * 1000):012x}"


async def create_agent(tx: Transaction, agent_id: str) -> Row:
    """Lock an agent before anything of it is written, creating it on its first write; returns its ``clock``."""
    row = await tx.one("agent/create", agentId=agent_id) or await tx.one("agent/create", agentId=agent_id)
    assert row is not None  # It was forgotten while its lock was waited for, and then made anew under that lock.
    return row


async def lock(tx: Transaction, agent_id: str) -> int:
    """Lock an existing agent before anything of it is written; returns its revision.

    Raises:
        UnknownAgent: When there is none of that id.
    """
    row = await tx.one("agent/lock", agentId=agent_id)
    if row is None:
        raise unknown_agent(agent_id)
    return row["revision"]


async def fetch(tx: Transaction, agent_id: str, ids: Sequence[str]) -> dict[str, AnyMemory]:
    """The agent's memories of these ids; those that it lacks are left out."""
    rows = await tx.run("memory/get", agentId=agent_id, ids=list(ids))
    return {row["memory"]["id"]: to_memory(row) for row in rows}


async def fetch_one(tx: Transaction, agent_id: str, memory_id: str) -> AnyMemory:
    """One memory of the agent.

    Raises:
        UnknownMemory: When this agent has none of that id.
    """
    found = await fetch(tx, agent_id, [memory_id])
    if memory_id not in found:
        raise unknown_memory(agent_id, memory_id)
    return found[memory_id]


def unknown_memory(agent_id: str, memory_id: str) -> UnknownMemory:
    """The error for a memory that the agent does not have."""
    return UnknownMemory(
        f"agent {agent_id!r} has no memory {memory_id!r}",
        remedy=f"list its memories with: graphmem memories --agent {agent_id}",
    )


def unknown_agent(agent_id: str, *, meant: Sequence[str] = ()) -> UnknownAgent:
    """The error for an agent that was never written to; ``meant`` are those that are called almost so."""
    remedy = "graphmem agents lists those there are"
    if meant:
        remedy = f"did you mean {' or '.join(map(repr, meant))}? {remedy}"
    return UnknownAgent(f"there is no agent {agent_id!r}", remedy=remedy)
