"""Background work, an agent at a time: missing embeddings and ratings, due reflections, stale memories and plans.

A worker leases an agent by the server's clock, so that several processes can work side by side; when one dies, its
lease ends and another goes on. Every step is a transaction of its own, and what is done is not done again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex

from graphmem.cognition.engine import Engine, tidy_up
from graphmem.cognition.grounding import rate
from graphmem.cognition.leases import LEASE_SECONDS, kept
from graphmem.cognition.planning import replan
from graphmem.cognition.recompute import recompute
from graphmem.cognition.reflect import reflect
from graphmem.cognition.runs import running
from graphmem.cognition.texts import spoken
from graphmem.errors import EmbeddingError, LanguageModelError, StoreInconsistent, UnknownAgent
from graphmem.graph.store import Row
from graphmem.language.base import EXTRACTIVE
from graphmem.language.prompts import RateImportance
from graphmem.models import Failure, ImportanceBy, WorkReport

BATCH = 100
"""Memories per embedding or rating step."""
BACKOFF_SECONDS = 30
"""Wait before a text that could not be embedded is tried again; doubled each time."""

_log = logging.getLogger("graphmem")


@dataclass
class _Tally:
    agents: int = 0
    embedded: int = 0
    rated: int = 0
    reflections: int = 0
    recomputed: int = 0
    planned: int = 0


async def work_once(engine: Engine, *, agent_id: str | None = None, now: object = None) -> WorkReport:
    """Do all that is pending and possible now, for one agent or for all.

    What one agent's model refuses or fails at is reported and costs the others nothing.

    Args:
        engine: The open store with its models.
        agent_id: Only this agent; None: all.
        now: The time of reflections and changes; by default each agent's own.

    Raises:
        StoreError: When the database fails.
    """
    tally = _Tally()
    failures: list[Failure] = []
    for pending in await engine.store.query("work/pending", agentId=agent_id):
        worker = _Worker(engine, pending["id"], token_hex(8))
        try:
            if not await worker.lease():
                continue
            tally.agents += 1
            async with kept(worker.lease):
                await worker.run(pending, tally, now)
        except UnknownAgent:
            _log.info("agent %s was forgotten while it was worked for", pending["id"])
        except (LanguageModelError, EmbeddingError, StoreInconsistent) as error:
            _log.warning("work for agent %s stopped: %s", pending["id"], error)
            failures.append(Failure(agent_id=pending["id"], error=str(error), remedy=error.remedy))
        finally:
            await tidy_up(worker.release)
    left = await engine.store.query("work/pending", agentId=agent_id)
    return WorkReport(
        agents=tally.agents,
        embedded=tally.embedded,
        rated=tally.rated,
        reflections=tally.reflections,
        recomputed=tally.recomputed,
        planned=tally.planned,
        failures=tuple(failures),
        pending=tuple(row["id"] for row in left),
    )


class _Worker:
    """One lease on one agent."""

    def __init__(self, engine: Engine, agent_id: str, token: str) -> None:
        self.engine = engine
        self.agent_id = agent_id
        self.token = token

    async def lease(self) -> bool:
        """Take or renew the lease; False when another worker has it."""
        row = await self.engine.store.write(
            lambda tx: tx.one("work/lease", agentId=self.agent_id, token=self.token, leaseSeconds=LEASE_SECONDS)
        )
        return row is not None

    async def release(self) -> None:
        """Give the lease back."""
        await self.engine.store.write(lambda tx: tx.run("work/release", agentId=self.agent_id, token=self.token))

    async def run(self, pending: Row, tally: _Tally, now: object) -> None:
        """Do what is pending: what retrieval needs first, what thinks last."""
        if pending["notEmbedded"]:
            tally.embedded += await self._embed()
        if pending["ratingDue"]:
            tally.rated += await self._rate()
        if pending["stale"] and await self.lease():
            tally.recomputed += await self._recompute(now)
            if await replan(self.engine, self.agent_id, now=now) is not None:
                tally.planned += 1
                # What rests on the plans that were replaced is ready now.
                tally.recomputed += await self._recompute(now)
        # Rating may have made it due, so reflect decides for itself.
        if await self.lease():
            reflected = await reflect(self.engine, self.agent_id, now=now)
            tally.reflections += len(reflected.reflections)

    async def _recompute(self, now: object) -> int:
        report = await recompute(self.engine, self.agent_id, now=now)
        return len(report.items) - report.count("failed")

    async def _embed(self) -> int:
        embedded = 0
        while await self.lease():
            rows = await self.engine.store.query("work/not_embedded", agentId=self.agent_id, limit=BATCH)
            if not rows:
                break
            texts = [spoken(row["text"], row["source"]) for row in rows]
            vectors = await self.engine.embed_documents(texts)
            done: list[Row] = [
                {"id": row["id"], "embedding": vector, "truncated": self.engine.embedder.truncates(text)}
                for row, text, vector in zip(rows, texts, vectors, strict=True)
                if vector is not None
            ]
            failed = [row["id"] for row, vector in zip(rows, vectors, strict=True) if vector is None]
            embedded += await self._store(done, failed)
        return embedded

    async def _store(self, done: list[Row], failed: list[str]) -> int:
        """Write vectors, and when to try again what has none."""
        counted = await self.engine.store.write(
            lambda tx: tx.one(
                "work/embed", agentId=self.agent_id, token=self.token, rows=done, model=self.engine.embedder.name
            )
        )
        if failed:
            await self.engine.store.write(
                lambda tx: tx.run(
                    "work/embed_failed",
                    agentId=self.agent_id,
                    token=self.token,
                    ids=failed,
                    backoffSeconds=BACKOFF_SECONDS,
                )
            )
        return counted["embedded"] if counted else 0

    async def _rate(self) -> int:
        done = 0
        while await self.lease():
            rows = await self.engine.store.query("work/rating_due", agentId=self.agent_id, limit=BATCH)
            if not rows:
                break
            texts = [spoken(row["text"], row["source"]) for row in rows]
            ratings = await self._ratings(texts)
            rated: list[Row] = [
                {"id": row["id"], "importance": importance, "by": by}
                for row, (importance, by) in zip(rows, ratings, strict=True)
                if by != "default"
            ]
            if not rated:
                break  # The model rated none; they stay due.
            counted = await self._store_ratings(rated)
            done += counted
            if counted < len(rows):
                break
        return done

    async def _ratings(self, texts: Sequence[str]) -> list[tuple[int, ImportanceBy]]:
        if self.engine.language_model.name == EXTRACTIVE:
            return await rate(self.engine, texts, None)
        at = await self.engine.now(self.agent_id)
        async with running(self.engine, self.agent_id, "rate", self.engine.asks(RateImportance), at) as run:
            return await rate(self.engine, texts, run)

    async def _store_ratings(self, rows: list[Row]) -> int:
        counted = await self.engine.store.write(
            lambda tx: tx.one("work/rate", agentId=self.agent_id, token=self.token, rows=rows)
        )
        return counted["rated"] if counted else 0
