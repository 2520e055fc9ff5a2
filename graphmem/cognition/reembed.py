"""Moving a store to another embedding model, of any dimension, while it is in use; a move that was cut off goes on.

First the vectors of the new model are made beside those in use: nobody notices. Then comes the switch, which only moves
what is there and builds the index anew. From its first moment to its last no vector of either model is read or written
by anybody else: each transaction that uses one asks afterwards whether the store is still for its model
(:class:`graphmem.graph.store.Transaction`), and is refused with ``EmbeddingModelChanged`` where it is not. Dropping the
index waits for the transactions that have written vectors, so that none of the old model comes in after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex

from graphmem.cognition.engine import Engine, lock, tidy_up
from graphmem.cognition.leases import kept
from graphmem.cognition.texts import spoken
from graphmem.errors import StoreUnavailable, UnknownAgent
from graphmem.graph import schema
from graphmem.graph.made_for import moving
from graphmem.graph.store import Row, Transaction
from graphmem.models import Reembedded

LEASE_SECONDS = 15
"""After so many seconds without a sign of life somebody else may go on with a move."""
BATCH = 100
"""Texts embedded at a time."""
MOVED_AT_ONCE = 1_000
"""Memories whose vectors one transaction moves."""
_ALL = 1_000_000_000
_POLL_SECONDS = 0.5

Progress = Callable[[str, float | None], None]


async def reembed(engine: Engine, *, progress: Progress) -> Reembedded:
    """Move the store to the engine's embedder.

    Args:
        engine: A store whose schema is up to date, and the new embedder; the store must not watch its model itself.
        progress: Told what is going on and how far it is, in [0, 1].

    Raises:
        EmbeddingModelChanged: When another move is in its switch, which has to end first.
        EmbeddingError: When the new model fails on everything; what was embedded is kept, the same call goes on.
        StoreUnavailable: When another process has been moving the store for too long.
    """
    move = _Move(engine, token_hex(8), progress)
    try:
        before = await move.take()
        if (before["embeddingModel"], before["dimension"]) == (engine.embedder.name, engine.embedder.dimension):
            await move.release()
            return Reembedded(
                before=before["embeddingModel"], after=engine.embedder.name, dimension=before["dimension"]
            )
        async with kept(move.lease, seconds=LEASE_SECONDS):
            return await move.carry_out(before)
    except BaseException:
        await tidy_up(move.release)
        raise


@dataclass
class _Move:
    """One attempt at a move, under a lease of its own."""

    engine: Engine
    token: str
    progress: Progress
    total: int = 0
    embedded: int = 0

    async def take(self) -> Row:
        """Take the right to move the store; whoever has it is waited for as long as for an index.

        Raises:
            StoreUnavailable: When it does not end in time.
            EmbeddingModelChanged: When a switch to another model was begun.
        """
        deadline = asyncio.get_running_loop().time() + self.engine.settings.index_timeout
        while True:
            row = await self.lease()
            if row["token"] == self.token:
                return row
            asked = (self.engine.embedder.name, self.engine.embedder.dimension)
            if row["switching"] and (row["movingTo"], row["movingToDimension"]) != asked:
                raise moving(row)
            if asyncio.get_running_loop().time() > deadline:
                raise StoreUnavailable(
                    "another process is moving the store to another embedding model",
                    remedy="wait for it; if it was killed, the same command goes on where it stopped",
                )
            self.progress("waiting for another process that moves the store", None)
            await asyncio.sleep(_POLL_SECONDS)

    async def lease(self) -> Row:
        """Take or renew the lease; the row says who has it. One that was lost is noticed by the next write."""
        embedder = self.engine.embedder
        row = await self.engine.store.write(
            lambda tx: tx.one(
                "reembed/lease",
                token=self.token,
                model=embedder.name,
                dimension=embedder.dimension,
                leaseSeconds=LEASE_SECONDS,
            )
        )
        assert row is not None  # The schema was made before.
        return row

    async def release(self) -> None:
        """Let somebody else go on."""
        await self.engine.store.write(lambda tx: tx.run("reembed/release", token=self.token))

    async def carry_out(self, before: Row) -> Reembedded:
        """Make the vectors, switch, and record it."""
        store, embedder = self.engine.store, self.engine.embedder
        agents = await self._agents()
        for agent in agents:
            (row,) = await store.query("reembed/count", agentId=agent)
            self.total += row["memories"]
        if not before["switching"]:
            # Until nothing came in meanwhile, or so little that the switch may wait for it.
            while await self._ahead() > BATCH:
                pass
            self._held(await store.write(lambda tx: tx.run("reembed/switch", token=self.token)))
        self.progress("switching to the new vectors", None)
        await store.schema("reembed/drop")
        await self._ahead()
        moved = not_embedded = 0
        for agent in await self._agents():
            last: str | None = ""
            while last is not None:
                row = await self._move(agent, last)
                moved += row["moved"]
                not_embedded += row["notEmbedded"]
                last = row["last"]
                self.progress("switching to the new vectors", moved / max(self.total, moved, 1))
        self.progress("building the index", None)
        await schema.make_vector_index(store, embedder, wait_seconds=self.engine.settings.index_timeout)
        self._held(await store.write(lambda tx: tx.run("reembed/finish", token=self.token)))
        return Reembedded(
            before=before["embeddingModel"],
            after=embedder.name,
            dimension=embedder.dimension,
            memories=moved,
            embedded=self.embedded,
            not_embedded=not_embedded,
        )

    async def _agents(self) -> list[str]:
        return [row["id"] for row in await self.engine.store.query("agent/ids", prefix="", limit=_ALL)]

    def _held(self, rows: list[Row]) -> None:
        if not rows:
            raise StoreUnavailable(
                "another process has taken over the move to another embedding model",
                remedy="wait for it; running the same command again waits, too",
            )

    async def _ahead(self) -> int:
        """Make what vectors of the new model are missing.

        Returns:
            How many were.
        """
        made = 0
        for agent in await self._agents():
            after = ""
            while rows := await self.engine.store.query(
                "reembed/page", agentId=agent, after=after, model=self.engine.embedder.name, limit=BATCH
            ):
                await self._embed(agent, rows)
                after = rows[-1]["id"]
                made += len(rows)
                self.embedded += len(rows)
                self.progress("embedding with the new model", min(1.0, self.embedded / max(self.total, 1)))
        return made

    async def _embed(self, agent_id: str, rows: list[Row]) -> None:
        engine = self.engine
        texts = [spoken(row["text"], row["source"]) for row in rows]
        vectors = await engine.embed_documents(texts)
        if all(vector is None for vector in vectors):
            # Nothing at all: unless the model can embed something else, it is the model that fails, not the texts.
            await engine.embed_query("Is anybody there?")
        items = [
            {**row, "embedding": vector, "truncated": vector is not None and engine.embedder.truncates(text)}
            for row, text, vector in zip(rows, texts, vectors, strict=True)
        ]

        async def keep(tx: Transaction) -> None:
            await lock(tx, agent_id)  # Forgetting holds it, too: what it took away does not come back.
            await tx.run("reembed/ahead", agentId=agent_id, rows=items, model=engine.embedder.name)

        with suppress(UnknownAgent):  # It was deleted meanwhile.
            await engine.store.write(keep)

    async def _move(self, agent_id: str, after: str) -> Row:
        async def work(tx: Transaction) -> Row | None:
            await lock(tx, agent_id)
            return await tx.one(
                "reembed/move",
                agentId=agent_id,
                after=after,
                model=self.engine.embedder.name,
                limit=MOVED_AT_ONCE,
            )

        with suppress(UnknownAgent):
            row = await self.engine.store.write(work)
            assert row is not None  # It aggregates without a grouping key.
            return row
        return {"moved": 0, "notEmbedded": 0, "last": None}
