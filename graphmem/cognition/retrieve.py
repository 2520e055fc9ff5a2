"""Retrieving: relevance, recency and importance, scored in Cypher; the access is noted after the read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, sqrt
from typing import Any, cast, get_args

from graphmem.clock import as_utc
from graphmem.cognition import past
from graphmem.cognition.engine import Engine, lock
from graphmem.cognition.question import Searches, searches_for
from graphmem.cognition.selection import chosen, with_evidence, within
from graphmem.embedding.base import Vectors
from graphmem.errors import InvalidInput, InvalidTime
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.graph.values import epoch_millis
from graphmem.models import (
    MAX_K,
    PAPER,
    Filters,
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
FEW = 2_000
"""Up to so many memories that pass a filter are scored without searching."""
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
    since: object = None,
    until: object = None,
    place: str | None = None,
    source: str | None = None,
    max_inferred: int | None = None,
    evidence: int = 0,
    token_budget: int | None = None,
    touch: bool = True,
    as_of: object = None,
    now: object = None,
) -> Hits:
    """The ``k`` active memories with the highest score; an agent without memories gives none.

    With ``as_of`` those that the agent believed at that moment, with the recency of when they happened.

    Raises:
        InvalidInput: When a value is refused.
        EmbeddingError: When the query cannot be embedded.
        StoreError: When the database fails; never an empty answer instead.
    """
    checked_k(k)
    checked_query(query)
    _checked_count("max_inferred", max_inferred, least=0)
    _checked_count("evidence", evidence, least=0)
    _checked_count("token_budget", token_budget, least=1)
    filters = checked_filters(kinds=kinds, since=since, until=until, place=place, source=source)
    if not isinstance(profile, Profile):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise InvalidInput(
            f"profile: {profile!r} is not a Profile", remedy="take PAPER or RECALL of graphmem.models, or make one"
        )
    if weights is not None:
        if not isinstance(weights, Weights):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"weights: {weights!r} are not Weights")
        profile = profile.model_copy(update={"weights": weights})
    if as_of is not None:
        moment = as_utc(as_of)
        hits = await search_past(
            engine, agent_id, query, k=k, profile=profile, filters=filters, max_inferred=max_inferred, moment=moment
        )
        touch = False
    else:
        moment = await engine.now(agent_id, now)
        hits = await search(
            engine, agent_id, query, k=k, profile=profile, now=moment, filters=filters, max_inferred=max_inferred
        )
    found = await with_evidence(engine, agent_id, hits, evidence)
    if token_budget is not None:
        found, left_out, used = within(found, token_budget)
        hits = hits.model_copy(update={"left_out": tuple(left_out), "tokens": used})
    hits = hits.model_copy(update={"hits": tuple(found)})
    if touch and hits:
        await touch_all(engine, agent_id, [hit.memory.id for hit in hits], moment)
    return hits


def checked_query(query: str) -> None:
    """Refuse a query that is no text: it is one like those it looks for.

    Raises:
        InvalidText: As it says.
    """
    validated(NewObservation, {"text": query})


def checked_filters(
    *, kinds: object = None, since: object = None, until: object = None, place: object = None, source: object = None
) -> Filters:
    """Filters as a caller gave them.

    Raises:
        InvalidInput: When a kind is unknown, no kind is given, or a name is refused.
        InvalidTime: When a time is naive or unreadable, or nothing can be between them.
    """
    if kinds is not None:
        if isinstance(kinds, str) or not isinstance(kinds, Iterable):
            raise InvalidInput(f"kinds: {kinds!r} is not a list of kinds")
        given = tuple(cast("Iterable[object]", kinds))
        if unknown := sorted({str(kind) for kind in given if kind not in get_args(Kind)}):
            raise InvalidInput(f"kinds: {', '.join(unknown)} unknown; known are {', '.join(get_args(Kind))}")
        kinds = tuple(dict.fromkeys(given))
        if not kinds:
            raise InvalidInput("kinds: is empty, so that nothing could be found", remedy="leave it out for all kinds")
    begin = as_utc(since) if since is not None else None
    end = as_utc(until) if until is not None else None
    if begin is not None and end is not None and begin >= end:
        raise InvalidTime(f"since {begin.isoformat()} is not before until {end.isoformat()}")
    return validated(Filters, {"kinds": kinds, "since": begin, "until": end, "place": place, "source": source})


def _checked_count(name: str, value: object, *, least: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise InvalidInput(f"{name}: {value!r} is not a whole number from {least} up")


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
    filters: Filters | None = None,
    max_inferred: int | None = None,
    known_by: datetime | None = None,
) -> Hits:
    """Score without touching: what verbs use that retrieve more than once and must not see their own accesses.

    With ``known_by`` only memories that had been recorded by then; of what ended since nothing is told.
    """
    vector = await engine.embed_query(query)
    states = await engine.store.query("agent/state", agentId=agent_id)
    held: int = states[0]["held"] if states else 0
    filters = filters or Filters()
    if held == 0:
        return Hits(hits=(), query=query, profile=profile, now=now, considered=0)
    few = await passing(engine, agent_id, filters, held)
    searches = await searches_for(engine, agent_id, query, profile.blend) if profile.blend is not None else None
    tallies: list[Row] = []

    async def find(many: int, kinds: tuple[Kind, ...] | None) -> tuple[list[Hit], bool | None]:
        asked_for = filters if kinds is None else filters.model_copy(update={"kinds": kinds})
        wide = many
        while True:
            asked = Asked(agent_id, vector, wide, profile, now, asked_for, few)
            if searches is None:
                found, exact = await best(engine, asked, held)
            else:
                found, exact = await blended(engine, asked, searches, held), None
            tallies.append(found)
            # What ended between being found and being read is not given.
            hits = [_hit(row, profile) for row in found["hits"] if row["memory"]["held"]]
            known = [hit for hit in hits if known_by is None or hit.memory.recorded_at <= known_by]
            if len(known) >= many or len(hits) < wide or wide == MAX_K:
                return known[:many], exact
            wide = min(MAX_K, 4 * wide)

    hits, exact = await chosen(
        engine, agent_id, find, k=k, profile=profile, kinds=filters.kinds, max_inferred=max_inferred
    )
    return Hits(
        hits=tuple(hits),
        query=query,
        profile=profile,
        now=now,
        exact=exact,
        considered=held,
        withheld_stale=tallies[0]["withheldStale"],
        not_embedded=tallies[0]["notEmbedded"],
    )


async def search_past(
    engine: Engine,
    agent_id: str,
    query: str,
    *,
    k: int,
    profile: Profile,
    filters: Filters,
    max_inferred: int | None = None,
    moment: datetime,
) -> Hits:
    """What the agent believed at a moment, by vectors alone; never noted as an access."""
    vector = await engine.embed_query(query)
    profile = profile.model_copy(update={"blend": None})
    held = past.Held("active", None)
    tallies: list[Row] = []

    async def find(many: int, kinds: tuple[Kind, ...] | None) -> tuple[list[Hit], bool | None]:
        asked_for = filters if kinds is None else filters.model_copy(update={"kinds": kinds})
        asked = Asked(agent_id, vector, many, profile, moment, asked_for)
        found = await past.best(engine, asked.parameters(), moment)
        tallies.append(found)
        hits = [_hit(row, profile) for row in found["hits"] if row["memory"]["status"] != "forgotten"]
        return [hit.model_copy(update={"memory": past.as_it_was(hit.memory, held)}) for hit in hits], None

    hits, _ = await chosen(engine, agent_id, find, k=k, profile=profile, kinds=filters.kinds, max_inferred=max_inferred)
    found = tallies[0]
    return Hits(
        hits=tuple(hits),
        query=query,
        profile=profile,
        now=moment,
        as_of=moment,
        exact=None,
        considered=found["kept"] + found["withheldStale"],
        withheld_stale=found["withheldStale"],
        not_embedded=found["notEmbedded"],
    )


async def passing(engine: Engine, agent_id: str, filters: Filters, held: int) -> tuple[str, ...] | None:
    """Ids among which are all that pass the filters, where an index tells that they are few; else None."""
    if not filters or held <= SCORED_AT_ONCE:
        return None
    given: dict[str, Any] = {"agentId": agent_id, "limit": FEW + 1}
    asked: list[tuple[str, dict[str, Any]]] = []
    if filters.place is not None:
        asked.append(("retrieve/at_place", {"place": filters.place}))
    if filters.source is not None:
        asked.append(("retrieve/said_by", {"source": filters.source}))
    if filters.since is not None or filters.until is not None:
        asked.append(("retrieve/in_time", {"since": filters.since, "until": filters.until}))
    if filters.kinds is not None:
        asked.append(("retrieve/of_kinds", {"kinds": list(filters.kinds)}))
    fewest: tuple[str, ...] | None = None
    for name, parameters in asked:
        (row,) = await engine.store.query(name, **given, **parameters)
        if row["read"] <= FEW and (fewest is None or len(row["ids"]) < len(fewest)):
            fewest = tuple(row["ids"])
    return fewest


@dataclass(frozen=True)
class Asked:
    """What a retrieval asks for."""

    agent_id: str
    vector: Vectors
    k: int
    profile: Profile
    now: datetime
    filters: Filters
    only: tuple[str, ...] | None = None
    """Ids among which are all that pass the filters, where they are few: scored without a search."""

    def parameters(self) -> dict[str, Any]:
        """What both ways of scoring take."""
        weights = self.profile.weights
        return {
            "agentId": self.agent_id,
            "vector": self.vector,
            "k": self.k,
            # One map: Neo4j plans a statement anew for other types of its parameters, and null is a type.
            "filters": {
                "kinds": list(self.filters.kinds) if self.filters.kinds is not None else None,
                "since": self.filters.since,
                "until": self.filters.until,
                "place": self.filters.place,
                "source": self.filters.source,
                "only": list(self.only) if self.only is not None else None,
            },
            "minmax": self.profile.normalise == "minmax",
            "decay": self.profile.decay,
            "recencyFloor": float(self.profile.recency_floor),
            "relevanceWeight": weights.relevance,
            "recencyWeight": weights.recency,
            "importanceWeight": weights.importance,
            "now": self.now,
            "nowMillis": epoch_millis(self.now),
        }


_NOTHING: Row = {"hits": [], "taken": 0, "withheldStale": 0, "notEmbedded": 0}
"""What there is when all was forgotten since it was asked whether the agent holds anything."""


async def score(engine: Engine, asked: Asked, *, near: int, ranked: int) -> tuple[Row, bool]:
    """Score the ``near`` most relevant memories and the ``ranked`` best by recency and importance.

    That all were scored is known when there are fewer than ``ranked``.

    Returns:
        What was found, and whether nothing outside those lists can score higher.
    """
    take = 2 * asked.k + 20
    while True:
        rows = await engine.store.query(
            "retrieve/score",
            **asked.parameters(),
            filtered=bool(asked.filters),
            negated=-asked.vector,
            n=near,
            m=ranked,
            take=take,
        )
        if not rows:
            return dict(_NOTHING), True
        (found,) = rows
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
    if asked.only is not None:
        return await score(engine, asked, near=min(held, _STALE_SEEN), ranked=asked.k)
    # The index gives the next most relevant for a tenth of what one more per level of importance costs, so that V is
    # the longer list; at 100,000 half as many closed for 45 % of queries, and a second round costs more than it saves.
    near = min(held, max(asked.k, ceil(sqrt(asked.k * held))))
    ranked = max(asked.k, near // 8)
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


async def blended(engine: Engine, asked: Asked, searches: Searches, held: int) -> Row:
    """Score the candidates of a blended relevance: all that the agent holds, up to ``BLENDED_AT_ONCE`` of each list.

    With filters four times as many, and those that pass where they are few.
    """
    blend = asked.profile.blend
    assert blend is not None
    vector, text, speaker = blend.shares()
    around = blend.neighbours
    near = min(held, max(BLENDED_AT_ONCE * (4 if asked.filters else 1), 4 * asked.k))
    take = 2 * asked.k + 20
    while True:
        rows = await engine.store.query(
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
        )
        if not rows:
            return dict(_NOTHING)
        (found,) = rows
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
