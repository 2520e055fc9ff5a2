"""Observing: rate, embed, store, and add to the sum that triggers reflection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from graphmem.cognition import keyed, truth
from graphmem.cognition import resolve as resolving
from graphmem.cognition.engine import CALLER, Engine, create_agent, fetch_one, new_id
from graphmem.cognition.grounding import rate
from graphmem.cognition.runs import running
from graphmem.cognition.texts import derived, spoken
from graphmem.embedding.base import Vectors
from graphmem.errors import Forgotten, IdConflict, InvalidInput, StoreInconsistent
from graphmem.graph.records import content_hash
from graphmem.graph.store import Row, Transaction
from graphmem.language.base import EXTRACTIVE
from graphmem.language.prompts import RateImportance
from graphmem.models import Changed, ImportanceBy, NewObservation, Observation, Observed, RunRef, validated

BATCH = 500
"""Observations per transaction."""
NAMED = 3
"""Conflicting ids that an error names; it holds all of them."""

NewItem = str | Mapping[str, Any] | NewObservation


def checked(item: NewItem) -> NewObservation:
    """Check one item as a caller gave it.

    Raises:
        InvalidInput: When a value is refused; InvalidText or InvalidTime where it is the text or the time.
    """
    if isinstance(item, NewObservation):
        # Checked again: model_construct and model_copy check nothing.
        return validated(NewObservation, item.model_dump(exclude_unset=True, warnings=False))
    if isinstance(item, str):
        return validated(NewObservation, {"text": item})
    if isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        return validated(NewObservation, item)
    raise InvalidInput(f"an observation is a string, a mapping or a NewObservation, not {type(item).__name__}")


async def observe(
    engine: Engine,
    agent_id: str,
    given: Mapping[str, Any],
    *,
    now: object = None,
    ask: bool = False,
    resolve: bool = False,
) -> Observation:
    """Store one observation and return it as stored; fields that are None count as not given.

    Raises:
        InvalidInput: When a value is refused; nothing was written.
        IdConflict: When the id is taken by other content.
        Forgotten: When the id is that of a memory that was forgotten.
        LanguageModelError, EmbeddingError: With ``resolve``: the observation is stored, the same call again resolves.
    """
    item = checked({name: value for name, value in given.items() if value is not None})
    report = await observe_many(engine, agent_id, [item], now=now, ask=ask, resolve=resolve)
    memory = await engine.store.read(lambda tx: fetch_one(tx, agent_id, report.ids[0]))
    assert isinstance(memory, Observation)
    return memory


async def observe_many(
    engine: Engine,
    agent_id: str,
    items: Iterable[NewItem],
    *,
    now: object = None,
    ask: bool = False,
    resolve: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Observed:
    """Store observations, all checked before the first is written; each batch of 500 is one transaction.

    Raises:
        InvalidInput: When any item is refused; nothing was written.
        IdConflict: When an id is taken by other content; that item's batch was not written, earlier ones were, and
            calling again with the item mended goes on where this stopped.
    """
    if isinstance(items, str | bytes | Mapping | NewObservation) or not isinstance(items, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"items: a list of observations is needed, not {type(cast(object, items)).__name__}")
    checked_items = [checked(item) for item in items]
    at = await engine.now(agent_id, now)
    report = await store(engine, agent_id, checked_items, at, ask=ask, progress=progress)
    for id_ in dict.fromkeys(report.ids) if resolve else ():
        await resolving.resolve(engine, agent_id, id_, at)
    return report


async def store(
    engine: Engine,
    agent_id: str,
    items: Sequence[NewObservation],
    now: datetime,
    *,
    moments: Mapping[str, datetime] | None = None,
    ask: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Observed:
    """Store observations that were checked.

    Args:
        engine: The open store with its models.
        agent_id: Whose they are.
        items: What was observed.
        now: When the agent came to hold them.
        moments: By id, when those happened that say nothing of it themselves; else at ``now``. Not part of their
            content: the same again at another time is the same memory.
        ask: Whether the language model is asked at once to rate them.
        progress: Called with how many are stored.

    Raises:
        IdConflict: When an id is taken by other content; earlier batches of 500 are stored.
    """
    ids: list[str] = []
    added = 0
    not_embedded: list[str] = []
    superseded: list[str] = []
    stale: list[str] = []

    def prepare(start: int) -> asyncio.Task[_Batch]:
        batch = items[start : start + BATCH]
        return asyncio.create_task(_prepare(engine, agent_id, batch, now, start=start, moments=moments or {}, ask=ask))

    # While a batch is written, the next one is embedded: the one waits for the database, the other for this machine.
    ahead = prepare(0) if items else None
    while ahead is not None:
        try:
            batch = await ahead
        finally:
            ahead.cancel()
        start = len(ids) + len(batch.ids)
        ahead = prepare(start) if start < len(items) else None
        try:
            report = await _write(engine, agent_id, batch, now)
        except BaseException:
            if ahead is not None:
                ahead.cancel()
                await asyncio.wait([ahead])
            raise
        ids += report.ids
        added += report.added
        not_embedded += report.not_embedded
        superseded += report.superseded
        stale += report.stale
        if progress:
            progress(len(ids))
    return Observed(
        ids=tuple(ids),
        added=added,
        known=len(ids) - added,
        not_embedded=tuple(not_embedded),
        superseded=tuple(superseded),
        stale=tuple(stale),
    )


@dataclass(frozen=True)
class _Batch:
    """Observations of one transaction, rated and embedded."""

    start: int
    """Where it begins in what the caller gave."""
    pairs: list[tuple[str, NewObservation]]
    hashes: list[str]
    """Of the content of each."""
    rows: list[Row]

    @property
    def ids(self) -> list[str]:
        return [id_ for id_, _ in self.pairs]


async def _prepare(
    engine: Engine,
    agent_id: str,
    batch: Sequence[NewObservation],
    now: datetime,
    *,
    start: int,
    moments: Mapping[str, datetime],
    ask: bool,
) -> _Batch:
    """Rate and embed what is not stored already; the transaction decides for good."""
    pairs = [(item.id or new_id(), item) for item in batch]
    hashes = [content_hash(item) for item in batch]
    fresh = dict(pairs)
    before = await engine.store.query("observe/known", agentId=agent_id, ids=[id_ for id_, _ in pairs])
    _check_conflicts(agent_id, pairs, hashes, {row["id"]: row for row in before}, start)
    for row in before:
        fresh.pop(row["id"], None)  # An id may stand twice in one batch.
    return _Batch(start, pairs, hashes, await rows_for(engine, agent_id, fresh, now, moments=moments, ask=ask))


async def _write(engine: Engine, agent_id: str, batch: _Batch, now: datetime) -> Observed:
    """Store one batch in one transaction."""

    async def work(tx: Transaction) -> tuple[int, Changed | None]:
        await create_agent(tx, agent_id)
        known = {row["id"]: row for row in await tx.run("observe/known", agentId=agent_id, ids=batch.ids)}
        _check_conflicts(agent_id, batch.pairs, batch.hashes, known, batch.start)
        new = [row for row in batch.rows if row["properties"]["id"] not in known]
        await create(tx, agent_id, new, now)
        placed = [(row["properties"]["key"], row["properties"]["occurredAt"]) for row in new]
        where = keyed.spans((key, at) for key, at in placed if key is not None)
        settled = await keyed.settle(tx, agent_id, where, now, by=CALLER, arrived=True)
        if settled.revision is None:
            return len(new), None
        relabelled = await truth.relabel(tx, settled.revision, settled.changed)
        used_by = await tx.run("truth/used_by", agentId=agent_id, ids=list(settled.ended))
        return len(new), Changed(
            agent_id=agent_id,
            verb="observe",
            revision=settled.revision.seq,
            ended=settled.ended,
            held=settled.latest,
            stale=relabelled.stale,
            active=relabelled.active,
            used_by=tuple(RunRef.model_validate(row) for row in used_by),
        )

    added, changed = await engine.store.write(work)
    if changed is not None:
        await engine.tell(changed)
    return Observed(
        ids=tuple(batch.ids),
        added=added,
        known=len(batch.pairs) - added,
        not_embedded=tuple(row["properties"]["id"] for row in batch.rows if row["embedding"] is None),
        superseded=changed.ended if changed else (),
        stale=changed.stale if changed else (),
    )


def _check_conflicts(
    agent_id: str,
    items: Sequence[tuple[str, NewObservation]],
    given: Sequence[str],
    known: Mapping[str, Row],
    start: int,
) -> None:
    """Refuse ids that were forgotten, or whose content differs from what is stored or from an earlier item."""
    gone = [(position, id_) for position, (id_, _) in enumerate(items, start) if _forgotten(known.get(id_))]
    if gone:
        ids = tuple(dict.fromkeys(id_ for _, id_ in gone))
        raise Forgotten(
            f"agent {agent_id!r} was told to forget {_named(ids)}",
            ids=ids,
            positions=tuple(position for position, _ in gone),
            remedy="leave out what was forgotten, or give it an id of its own",
        )
    hashes = {id_: row["contentHash"] for id_, row in known.items()}
    taken = [
        (position, id_)
        for position, ((id_, item), hash_) in enumerate(zip(items, given, strict=True), start)
        if hashes.setdefault(id_, hash_) != hash_ and not _imported_as(known.get(id_), item)
    ]
    if not taken:
        return
    ids = tuple(dict.fromkeys(id_ for _, id_ in taken))
    raise IdConflict(
        f"agent {agent_id!r} has other content under the id{'s' if len(ids) > 1 else ''} {_named(ids)}",
        ids=ids,
        positions=tuple(position for position, _ in taken),
        remedy="give the new content an id of its own, or supersede the old memory",
    )


def _forgotten(row: Row | None) -> bool:
    return row is not None and row["status"] == "forgotten"


def _imported_as(row: Row | None, item: NewObservation) -> bool:
    """Whether that came by an import, which does not tell how it was first given, and says the same."""
    return row is not None and row["imported"] and (row["text"], row["source"]) == (item.text, item.source)


def _named(ids: Sequence[str]) -> str:
    """The first of these ids, and how many more there are."""
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(repr(id_) for id_ in ids[:NAMED]) + more


async def create(tx: Transaction, agent_id: str, rows: Sequence[Row], now: datetime) -> None:
    """Write rows made by :func:`rows_for`, whose ids are free, and add them to the trigger; the agent is locked."""
    if not rows:
        return
    created = await tx.one(
        "observe/create",
        agentId=agent_id,
        rows=list(rows),
        recordedAt=now,
    )
    if created is None or created["created"] != len(rows):
        raise StoreInconsistent(f"{len(rows)} observations were to be written, not {created}")
    await tx.run("entity/link", agentId=agent_id, ids=[row["properties"]["id"] for row in rows])
    importance = sum(row["properties"]["importance"] for row in rows)
    await tx.run("agent/count_in", agentId=agent_id, count=len(rows), importance=importance)


async def rows_for(
    engine: Engine,
    agent_id: str,
    items: Mapping[str, NewObservation],
    now: datetime,
    *,
    moments: Mapping[str, datetime] | None = None,
    ask: bool = False,
) -> list[Row]:
    """Rate and embed observations: everything about them that needs a model, outside any transaction.

    The language model is only waited for when asked to; otherwise memories are rated by rule, and marked for
    :mod:`graphmem.cognition.work` to have them rated later.
    """
    if not items:
        return []
    unrated = [spoken(item.text, item.source) for item in items.values() if item.importance is None]
    by_rule = engine.language_model.name == EXTRACTIVE
    if ask and unrated and not by_rule:
        # The first thing observed brings the agent into being, and with it the run that rates it.
        await engine.store.write(lambda tx: create_agent(tx, agent_id))
        async with running(engine, agent_id, "rate", engine.asks(RateImportance), now) as run:
            ratings = iter(await rate(engine, unrated, run))
    else:
        ratings = iter(await rate(engine, unrated, None))
    vectors = await engine.embed_documents([spoken(item.text, item.source) for item in items.values()])
    rows: list[Row] = []
    for (id_, item), vector in zip(items.items(), vectors, strict=True):
        importance, by = (item.importance, "caller") if item.importance is not None else next(ratings)
        occurred_at = item.occurred_at or (moments or {}).get(id_, now)
        row = _row(engine, agent_id, id_, item, occurred_at, vector, importance, by)
        row["properties"]["ratingDue"] = True if by == "default" or (by == "rule" and not by_rule) else None
        rows.append(row)
    return rows


def _row(
    engine: Engine,
    agent_id: str,
    id_: str,
    item: NewObservation,
    occurred_at: datetime,
    vector: Vectors | None,
    importance: int,
    importance_by: ImportanceBy,
) -> Row:
    properties = {
        "id": id_,
        **{
            name: getattr(item, name)
            for name in ("text", "kind", "source", "session", "place", "key", "subject", "predicate", "object")
        },
        "keyRank": id_ if item.key is not None else None,
        "keywords": list(item.keywords),
        "status": "active",
        "held": True,
        "depth": 0,
        "importance": importance,
        "importanceBy": importance_by,
        "occurredAt": occurred_at,
        "contentHash": content_hash(item),
        **derived(engine, agent_id, item.text, item.source, occurred_at, embedded=vector is not None),
    }
    return {"properties": properties, "embedding": vector}
