"""Retrieving: relevance, recency and importance, scored in Cypher; the access is noted after the read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

from graphmem.cognition.engine import Engine, lock
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction, epoch_millis
from graphmem.models import (
    MAX_K,
    PAPER,
    Hit,
    Hits,
    Kind,
    NewObservation,
    Part,
    Profile,
    Weights,
    validated,
)


async def retrieve(
    engine: Engine,
    agent_id: str,
    query: str,
    *,
    k: int = 10,
    profile: Profile = PAPER,
    weights: Weights | None = None,
    kinds: Sequence[Kind] | None = None,
    touch: bool = True,
    now: object = None,
) -> Hits:
    """The ``k`` active memories with the highest score; an agent without memories gives none.

    Raises:
        InvalidInput: When ``k`` is not a whole number from 1 to 10,000, the query is empty, or a kind is unknown.
        EmbeddingError: When the query cannot be embedded.
        StoreError: When the database fails; never an empty answer instead.
    """
    checked_k(k)
    validated(NewObservation, {"text": query})  # A query is a text like those it looks for.
    if kinds is not None and (unknown := sorted(set(kinds) - set(get_args(Kind)))):
        raise InvalidInput(f"kinds: {', '.join(unknown)} unknown; known are {', '.join(get_args(Kind))}")
    if weights is not None:
        profile = profile.model_copy(update={"weights": weights})
    at = await engine.now(agent_id, now)
    hits = await search(engine, agent_id, query, k=k, profile=profile, kinds=kinds, now=at)
    if touch and hits:
        await touch_all(engine, agent_id, [hit.memory.id for hit in hits], at)
    return hits


def checked_k(k: object) -> int:
    """The number of memories asked for.

    Raises:
        InvalidInput: When it is not a whole number from 1 to 10,000.
    """
    if isinstance(k, bool) or not isinstance(k, int):
        raise InvalidInput(f"k: {k!r} is not a whole number")
    if not 1 <= k <= MAX_K:
        raise InvalidInput(f"k: {k} is not between 1 and {MAX_K}")
    return k


async def search(
    engine: Engine,
    agent_id: str,
    query: str,
    *,
    k: int,
    profile: Profile,
    now: datetime,
    kinds: Sequence[Kind] | None = None,
) -> Hits:
    """Score without touching: what verbs use that retrieve more than once and must not see their own accesses."""
    vector = await engine.embed_query(query)
    weights = profile.weights
    rows = await engine.store.query(
        "retrieve/scan",
        agentId=agent_id,
        vector=vector,
        k=k,
        kinds=list(kinds) if kinds is not None else None,
        minmax=profile.normalise == "minmax",
        decay=profile.decay,
        relevanceWeight=weights.relevance,
        recencyWeight=weights.recency,
        importanceWeight=weights.importance,
        now=now,
        nowMillis=epoch_millis(now),
    )
    found: Row = rows[0] if rows else {"hits": [], "considered": 0, "withheldStale": 0, "notEmbedded": 0}
    return Hits(
        hits=tuple(_hit(row, weights) for row in found["hits"]),
        query=query,
        profile=profile,
        now=now,
        considered=found["considered"],
        withheld_stale=found["withheldStale"],
        not_embedded=found["notEmbedded"],
    )


def _hit(row: dict[str, Any], weights: Weights) -> Hit:
    memory = to_memory(row)
    return Hit(
        memory=memory,
        score=row["score"],
        relevance=Part(raw=row["relevance"], normalised=row["relevancePart"], weight=weights.relevance),
        recency=Part(raw=row["recency"], normalised=row["recencyPart"], weight=weights.recency),
        importance=Part(raw=memory.importance / 10, normalised=row["importancePart"], weight=weights.importance),
        occurrences=row["occurrences"],
    )


async def touch_all(engine: Engine, agent_id: str, ids: Sequence[str], now: datetime) -> None:
    """Note an access to these memories; never moves one back in time."""

    async def work(tx: Transaction) -> None:
        await lock(tx, agent_id)
        await tx.run("retrieve/touch", agentId=agent_id, ids=sorted(set(ids)), now=now)

    await engine.store.write(work)
