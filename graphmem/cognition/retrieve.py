"""Retrieving: relevance, recency and importance, scored in Cypher; the access is noted after the read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, sqrt
from typing import Any, get_args

from graphmem.clock import as_utc
from graphmem.cognition import past
from graphmem.cognition.engine import Engine, lock
from graphmem.cognition.question import searches_for
from graphmem.embedding.base import Vectors
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction, epoch_millis
from graphmem.models import (
    MAX_K,
    PAPER,
    Blend,
    Hit,
    Hits,
    Kind,
    NewObservation,
    Part,
    Profile,
    Signals,
    Weights,
    validated,
)

SCORED_AT_ONCE = 200
"""Up to so many held memories all are scored, which costs no more than the search for candidates."""
_SCORED_AT_LAST = 20_000
"""Up to so many all are scored when the candidates are never shown to be enough."""
_LARGEST = 8_000
"""Candidates by relevance after which no more are looked at."""
BLENDED_AT_ONCE = 500
"""Candidates by vector, and as many by words, of a blended relevance; an agent that holds fewer is scored whole."""
LENDERS = 200
"""The best of those lend to the turns next to them."""
_STALE_SEEN = 200
"""Nearest memories among which stale ones are counted when all are scored."""


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
    as_of: object = None,
    now: object = None,
) -> Hits:
    """The ``k`` active memories with the highest score; an agent without memories gives none.

    With ``as_of`` those that the agent believed at that moment, with the recency of when they happened.

    Raises:
        InvalidInput: When ``k`` is not a whole number from 1 to 10,000, the query is empty, or a kind is unknown.
        EmbeddingError: When the query cannot be embedded.
        StoreError: When the database fails; never an empty answer instead.
    """
    checked_k(k)
    validated(NewObservation, {"text": query})  # A query is a text like those it looks for.
    if kinds is not None and (isinstance(kinds, str) or not isinstance(kinds, Iterable)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"kinds: {kinds!r} is not a list of kinds")
    if kinds is not None and (unknown := sorted({str(kind) for kind in kinds} - set(get_args(Kind)))):
        raise InvalidInput(f"kinds: {', '.join(unknown)} unknown; known are {', '.join(get_args(Kind))}")
    if not isinstance(profile, Profile):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise InvalidInput(f"profile: {profile!r} is not a Profile")
    if weights is not None:
        if not isinstance(weights, Weights):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"weights: {weights!r} are not Weights")
        profile = profile.model_copy(update={"weights": weights})
    if as_of is not None:
        return await _search_past(engine, agent_id, query, k=k, profile=profile, kinds=kinds, moment=as_utc(as_of))
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
    states = await engine.store.query("agent/state", agentId=agent_id)
    held: int = states[0]["held"] if states else 0
    asked = Asked(agent_id, vector, k, profile, now, tuple(kinds) if kinds is not None else None)
    if held == 0:
        return Hits(hits=(), query=query, profile=profile, now=now, considered=0)
    if profile.blend is None:
        found, exact = await best(engine, asked, held)
    else:
        found, exact = await blended(engine, asked, query, profile.blend, held), None
    return Hits(
        hits=tuple(_hit(row, profile) for row in found["hits"]),
        query=query,
        profile=profile,
        now=now,
        exact=exact,
        considered=held,
        withheld_stale=found["withheldStale"],
        not_embedded=found["notEmbedded"],
    )


async def _search_past(
    engine: Engine,
    agent_id: str,
    query: str,
    *,
    k: int,
    profile: Profile,
    kinds: Sequence[Kind] | None,
    moment: datetime,
) -> Hits:
    """What the agent believed at a moment; never noted as an access."""
    vector = await engine.embed_query(query)
    asked = Asked(agent_id, vector, k, profile, moment, tuple(kinds) if kinds is not None else None)
    found = await past.best(engine, asked.parameters(), moment)
    hits = [_hit(row, profile.weights) for row in found["hits"]]
    held = past.Held("active", None)
    return Hits(
        hits=tuple(hit.model_copy(update={"memory": past.as_it_was(hit.memory, held)}) for hit in hits),
        query=query,
        profile=profile,
        now=moment,
        as_of=moment,
        exact=None,
        considered=found["kept"] + found["withheldStale"],
        withheld_stale=found["withheldStale"],
        not_embedded=found["notEmbedded"],
    )


@dataclass(frozen=True)
class Asked:
    """What a retrieval asks for."""

    agent_id: str
    vector: Vectors
    k: int
    profile: Profile
    now: datetime
    kinds: tuple[Kind, ...] | None

    def parameters(self) -> dict[str, Any]:
        """What both ways of scoring take."""
        weights = self.profile.weights
        return {
            "agentId": self.agent_id,
            "vector": self.vector,
            "k": self.k,
            "kinds": list(self.kinds) if self.kinds is not None else None,
            "minmax": self.profile.normalise == "minmax",
            "decay": self.profile.decay,
            "recencyFloor": float(self.profile.recency_floor),
            "relevanceWeight": weights.relevance,
            "recencyWeight": weights.recency,
            "importanceWeight": weights.importance,
            "now": self.now,
            "nowMillis": epoch_millis(self.now),
        }


async def score(engine: Engine, asked: Asked, *, near: int, ranked: int) -> tuple[Row, bool]:
    """Score the ``near`` most relevant memories and the ``ranked`` best by recency and importance.

    That all were scored is known when there are fewer than ``ranked``.

    Returns:
        What was found, and whether nothing outside those lists can score higher.
    """
    take = 2 * asked.k + 20
    while True:
        (found,) = await engine.store.query(
            "retrieve/score", **asked.parameters(), negated=-asked.vector, n=near, m=ranked, take=take
        )
        hits, bound = found["hits"], found["bound"]
        full = len(hits) == asked.k
        if full or found["taken"] < take:
            return found, bound is None or (full and hits[-1]["score"] >= bound)
        take *= 4  # Memories of equal text took up the places.


async def best(engine: Engine, asked: Asked, held: int) -> tuple[Row, bool]:
    """Enlarge the lists of candidates until nothing outside them can score higher.

    Returns:
        What was found, and whether it is the answer of scoring all, up to equal scores, given the index's own answers.
    """
    if held <= SCORED_AT_ONCE:
        return await score(engine, asked, near=min(held, _STALE_SEEN), ranked=held + 1)
    near = min(held, max(asked.k, ceil(sqrt(asked.k * held) / 2)))
    ranked = max(asked.k, near // 4)
    while True:
        found, closed = await score(engine, asked, near=near, ranked=ranked)
        if closed:
            return found, True
        if near >= _LARGEST:
            break
        near, ranked = min(held, near * 2), ranked * 2
    if held <= _SCORED_AT_LAST:
        return await score(engine, asked, near=near, ranked=held + 1)
    return found, False


async def blended(engine: Engine, asked: Asked, query: str, blend: Blend, held: int) -> Row:
    """Score the candidates of a blended relevance: all that the agent holds, up to ``BLENDED_AT_ONCE`` of each list."""
    searches = await searches_for(engine, asked.agent_id, query, blend)
    vector, text, speaker = blend.shares()
    around = blend.neighbours
    near = min(held, max(BLENDED_AT_ONCE, 4 * asked.k))
    take = 2 * asked.k + 20
    while True:
        (found,) = await engine.store.query(
            "retrieve/blend",
            **asked.parameters(),
            n=near,
            take=take,
            lenders=min(near, LENDERS),
            searches=list(searches.searches),
            searchWeights=list(searches.weights),
            speakers=list(searches.speakers),
            vectorFloor=blend.vector_floor,
            vectorWeight=vector,
            textWeight=text,
            speakerWeight=speaker,
            before=list(around.before),
            after=list(around.after),
            vectorShare=around.vectors,
            lentMost=around.vectors * (sum(around.before) + sum(around.after)),
            only=None,
        )
        if len(found["hits"]) == asked.k or found["taken"] < take:
            return found
        take *= 4  # Memories of equal text took up the places.


def _hit(row: dict[str, Any], profile: Profile) -> Hit:
    memory = to_memory(row)
    weights = profile.weights
    signals = None
    if profile.blend is not None:
        vector, text, speaker = profile.blend.shares()
        signals = Signals(
            vector=Part(raw=row["relevance"], normalised=row["vectorPart"], weight=vector),
            text=Part(raw=row["words"], normalised=row["textPart"], weight=text),
            speaker=Part(raw=row["speakerPart"], normalised=row["speakerPart"], weight=speaker),
        )
    return Hit(
        memory=memory,
        score=row["score"],
        relevance=Part(raw=row["relevance"], normalised=row["relevancePart"], weight=weights.relevance),
        recency=Part(raw=row["recency"], normalised=row["recencyPart"], weight=weights.recency),
        importance=Part(raw=memory.importance / 10, normalised=row["importancePart"], weight=weights.importance),
        signals=signals,
        occurrences=row["occurrences"],
    )


async def touch_all(engine: Engine, agent_id: str, ids: Sequence[str], now: datetime) -> None:
    """Note an access to these memories; never moves one back in time."""

    async def work(tx: Transaction) -> None:
        await lock(tx, agent_id)
        await tx.run("retrieve/touch", agentId=agent_id, ids=sorted(set(ids)), now=now)

    await engine.store.write(work)
