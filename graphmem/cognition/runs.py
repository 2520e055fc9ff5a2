"""Runs: the record of what was asked of a language model, what it cost, and what of it was refused."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic.alias_generators import to_snake

from graphmem.cognition.engine import (
    Engine,
    answer,
    checked_id,
    checked_limit,
    first_id,
    lock,
    new_id,
    tidy_up,
    window_of,
)
from graphmem.cognition.leases import LEASE_SECONDS, kept
from graphmem.errors import LanguageModelError, PromptTooLong, UnknownRun
from graphmem.graph.records import refused_to, to_memory, to_run
from graphmem.graph.store import Row, Transaction
from graphmem.language.base import EXTRACTIVE, Reply, Task, over_budget
from graphmem.language.text import shorten
from graphmem.models import Refused, RunDetails, RunInfo, Shown, Spent, Usage

MOST_KEPT = 2_000
"""Characters of an error or a refused item that a run keeps; what cannot be stored is shown as U+FFFD."""
DAY_SECONDS = 24 * 3600
FORGOTTEN = "what it was shown was forgotten meanwhile"


@dataclass
class Run:
    """A run that is open."""

    agent_id: str
    now: datetime
    id: str = field(default_factory=new_id)
    refused: list[Refused] = field(default_factory=list[Refused])
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""
    _read: set[str] = field(default_factory=set[str])
    """Memories that a prompt showed which the model read."""

    async def open(self, tx: Transaction, engine: Engine, verb: str, prompt_version: str) -> None:
        """Create the node, and close earlier ones whose process died; the agent is locked."""
        await tx.run("run/expire", agentId=self.agent_id, now=self.now)
        await tx.run(
            "run/open",
            agentId=self.agent_id,
            runId=self.id,
            verb=verb,
            model=engine.language_model.name,
            promptVersion=prompt_version,
            now=self.now,
            leaseSeconds=LEASE_SECONDS,
        )

    async def renew(self, tx: Transaction) -> None:
        """Show that the run is alive, and what it has spent so far; the agent is locked."""
        await tx.run(
            "run/renew",
            agentId=self.agent_id,
            runId=self.id,
            leaseSeconds=LEASE_SECONDS,
            promptTokens=self.prompt_tokens,
            completionTokens=self.completion_tokens,
            cost=self.cost,
        )

    def alive(self, engine: Engine) -> AbstractAsyncContextManager[None]:
        """Keep the run from being taken for dead for as long as the block takes."""

        async def work(tx: Transaction) -> None:
            await lock(tx, self.agent_id)
            await self.renew(tx)

        return kept(lambda: engine.store.write(work))

    async def ask(self, engine: Engine, task: Task[Any], shown: Sequence[Row]) -> Reply[Any]:
        """Ask the language model, with the memories that the prompt shows recorded first.

        Args:
            engine: The open store with its models.
            task: What to ask.
            shown: Rows of ``id``, ``rank`` and ``score`` (or None) for USED relationships.

        Raises:
            BudgetExceeded: When it could take more tokens than the agent may still spend; it was not asked.
            LanguageModelError: When the model failed, or no reply passed the gates; what was spent is counted.
        """
        task = engine.own(task)

        async def work(tx: Transaction) -> int:
            await lock(tx, self.agent_id)
            await self.renew(tx)
            await tx.run("run/used", agentId=self.agent_id, runId=self.id, shown=list(shown))
            return await spent_lately(tx, self.agent_id)

        spent = await engine.store.write(work)
        most = engine.settings.model_tokens_per_day
        if most is not None:
            task = task.model_copy(update={"allowance": most - spent})
            await _check_allowance(engine, task)
        try:
            reply = await answer(engine.language_model, task, texts=engine.settings.trace_texts)
        except LanguageModelError as error:
            self._account(error)
            if isinstance(error, PromptTooLong):
                await self._not_read(engine, shown)
            raise
        self._account(reply)
        self._read |= {row["id"] for row in shown}
        return reply

    async def _not_read(self, engine: Engine, shown: Sequence[Row]) -> None:
        """Take back USED of what only a prompt showed that the model could not read."""
        ids = [row["id"] for row in shown if row["id"] not in self._read]

        async def work(tx: Transaction) -> None:
            await lock(tx, self.agent_id)
            await tx.run("run/unused", agentId=self.agent_id, runId=self.id, ids=ids)

        if ids:
            await engine.store.write(work)

    def _account(self, spent: Reply[Any] | LanguageModelError) -> None:
        """Count what was spent and refused, whether anything came of it or not."""
        self.prompt_tokens += spent.prompt_tokens
        self.completion_tokens += spent.completion_tokens
        if spent.cost is not None:
            self.cost = (self.cost or 0) + spent.cost
        self.refused += spent.refused

    async def shown_forgotten(self, tx: Transaction) -> bool:
        """Whether something that its prompts showed was forgotten since; the agent is locked."""
        row = await tx.one("run/forgotten", agentId=self.agent_id, runId=self.id)
        return row is not None and row["forgotten"]

    async def close(self, tx: Transaction, outcome: str, error: str | None = None) -> None:
        """Record the outcome; the agent is locked. What may quote a memory that was forgotten meanwhile is not kept."""
        if await self.shown_forgotten(tx):
            self.refused = [item.model_copy(update={"reason": FORGOTTEN, "item": ""}) for item in self.refused]
            error = FORGOTTEN if error is not None else None
        await tx.run(
            "run/close",
            agentId=self.agent_id,
            runId=self.id,
            outcome=outcome,
            error=shorten(error, MOST_KEPT) if error is not None else None,
            now=self.now,
            refused=refused_to(tuple(_kept(item) for item in self.refused)),
            promptTokens=self.prompt_tokens,
            completionTokens=self.completion_tokens,
            cost=self.cost,
        )

    async def abandon(self, tx: Transaction, error: str) -> None:
        """Close it as failed where it is open: whoever was cut off at a commit cannot know whether it was made.

        Raises:
            UnknownAgent: When the agent was forgotten, and the run with it.
        """
        await lock(tx, self.agent_id)
        found = await tx.one("run/get", agentId=self.agent_id, runId=self.id)
        if found is not None and found["run"]["outcome"] == "open":
            await self.close(tx, "failed", error)


@asynccontextmanager
async def running(engine: Engine, agent_id: str, verb: str, prompt_version: str, now: datetime) -> AsyncGenerator[Run]:
    """A run for as long as the block takes; closed as ``done``, or as ``failed`` with the error that left it.

    Raises:
        UnknownAgent: When there is no such agent: nobody comes into being by being asked.
    """
    run = Run(agent_id, now)

    async def begin(tx: Transaction) -> None:
        await lock(tx, agent_id)
        await run.open(tx, engine, verb, prompt_version)

    async def end(tx: Transaction) -> None:
        await lock(tx, agent_id)
        await run.close(tx, "done")

    try:
        await engine.store.write(begin)
        async with run.alive(engine):
            yield run
        await engine.store.write(end)
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
        await tidy_up(lambda: engine.store.write(lambda tx: run.abandon(tx, message)))
        raise


async def spent_lately(tx: Transaction, agent_id: str) -> int:
    """Tokens of the agent's runs that began in the last 24 hours, by this machine's clock, of which ids are made."""
    row = await tx.one("run/spent", agentId=agent_id, since=first_id(time.time() - DAY_SECONDS))
    assert row is not None  # It aggregates without a grouping key.
    return row["tokens"]


async def _check_allowance(engine: Engine, task: Task[Any]) -> None:
    """Refuse what could take more than the allowance, whether the model heeds it or not.

    Raises:
        BudgetExceeded: Then nothing was asked.
    """
    window = await window_of(engine)
    left = task.allowance or 0
    prompt = sum(window.count(message.content) for message in task.messages())
    if engine.language_model.name != EXTRACTIVE and prompt + window.reply > left:
        raise over_budget(prompt, window.reply, left)


async def usage(engine: Engine, agent_id: str) -> Usage:
    """What an agent's runs have cost."""

    async def work(tx: Transaction) -> tuple[list[Row], int]:
        return await tx.run("run/usage", agentId=agent_id), await spent_lately(tx, agent_id)

    rows, lately = await engine.store.read(work)
    parts = tuple(Spent.model_validate({to_snake(name): value for name, value in row.items()}) for row in rows)
    costs = [part.cost for part in parts if part.cost is not None]
    return Usage(
        by=parts,
        runs=sum(part.runs for part in parts),
        prompt_tokens=sum(part.prompt_tokens for part in parts),
        completion_tokens=sum(part.completion_tokens for part in parts),
        cost=sum(costs) if costs else None,
        tokens_lately=lately,
        tokens_per_day=engine.settings.model_tokens_per_day,
    )


def _kept(item: Refused) -> Refused:
    """A refused item as a run keeps it: a model's error may say anything, at any length."""
    return item.model_copy(update={"reason": shorten(item.reason, MOST_KEPT), "item": shorten(item.item, MOST_KEPT)})


async def runs(engine: Engine, agent_id: str, *, limit: int = 100) -> tuple[RunInfo, ...]:
    """An agent's runs, newest first.

    Raises:
        InvalidInput: When the limit is not from 1 to 10,000.
    """
    rows = await engine.store.query("run/list", agentId=agent_id, limit=checked_limit(limit))
    return tuple(to_run(row["run"]) for row in rows)


async def run(engine: Engine, agent_id: str, run_id: str) -> RunDetails:
    """One run with what its prompts showed and what it wrote.

    Raises:
        UnknownRun: When this agent has none of that id.
    """
    run_id = checked_id(run_id, "run")

    async def work(tx: Transaction) -> RunDetails:
        found = await tx.one("run/get", agentId=agent_id, runId=run_id)
        if found is None:
            raise UnknownRun(
                f"agent {agent_id!r} has no run {run_id!r}",
                remedy=f"list its runs with: graphmem runs --agent {agent_id}",
            )
        shown = await tx.run("run/shown", agentId=agent_id, runId=run_id)
        wrote = await tx.run("run/wrote", agentId=agent_id, runId=run_id)
        return RunDetails(
            run=to_run(found["run"]),
            shown=tuple(Shown(memory=to_memory(row), rank=row["rank"], score=row["score"]) for row in shown),
            wrote=tuple(to_memory(row) for row in wrote),
        )

    return await engine.store.read(work)
