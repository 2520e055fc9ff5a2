"""Importance that changes: by use, and by what came of a memory. Every change is in the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from graphmem.cognition import truth
from graphmem.cognition.change import CALLER
from graphmem.cognition.engine import Engine, checked_id, checked_limit, fetch_one, lock, window_of
from graphmem.cognition.runs import Run, running
from graphmem.errors import AlreadyEnded, InvalidInput
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.language.base import EXTRACTIVE
from graphmem.language.gates import rated
from graphmem.language.prompts import Experienced, Reappraise, quote
from graphmem.language.text import shorten
from graphmem.models import MAX_TEXT, AnyMemory, Reappraised, ReappraiseReport, storable

AT_ONCE = 25
"""Most memories per request."""
_LATER = 3
"""Reflections that are shown of those that rest on a memory."""
_LOWEST, _HIGHEST = 1, 10


async def feedback(
    engine: Engine, agent_id: str, memory_id: str, *, useful: bool, reason: str = "", now: object = None
) -> Reappraised:
    """Raise or lower the importance of one memory by one, within 1 and 10; at the end of the scale it stays.

    Raises:
        InvalidInput: When the id, the answer or the reason is refused.
        UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
        AlreadyEnded: When it is not held any more.
    """
    memory_id = checked_id(memory_id)
    if not isinstance(useful, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise InvalidInput(f"useful: {useful!r} is neither True nor False")
    if not isinstance(reason, str) or len(reason) > MAX_TEXT:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"reason: is not a text of at most {MAX_TEXT:,} characters")
    try:
        storable(reason)
    except ValueError as error:
        raise InvalidInput(f"reason: {error}") from error
    at = await engine.now(agent_id, now)

    async def work(tx: Transaction) -> Reappraised:
        await lock(tx, agent_id)
        memory = await fetch_one(tx, agent_id, memory_id)
        if memory.status not in ("active", "stale"):
            raise AlreadyEnded(
                f"memory {memory_id!r} is {memory.status}", remedy="restore it first, or rate what took its place"
            )
        after = min(_HIGHEST, max(_LOWEST, memory.importance + (1 if useful else -1)))
        found = Reappraised(id=memory.id, text=memory.text, before=memory.importance, after=after)
        if after != memory.importance:
            await _set(tx, agent_id, [found], "feedback", at, importance_by="caller", by=CALLER, reason=reason)
        return found

    return await engine.store.write(work)


async def reappraise(engine: Engine, agent_id: str, *, limit: int = 50, now: object = None) -> ReappraiseReport:
    """Rate memories anew in the light of what came of them.

    Args:
        engine: The open store with its models.
        agent_id: Whose memories: active ones that the caller did not rate, those first that were longest not rated.
        limit: Most memories to look at.
        now: The time of the changes.

    Raises:
        InvalidInput: When the limit is not from 1 to 10,000.
        LanguageModelError: When the model fails; what was rated before stays.
    """
    at = await engine.now(agent_id, now)
    rows = await engine.store.query("importance/candidates", agentId=agent_id, limit=checked_limit(limit), later=_LATER)
    if not rows:
        return ReappraiseReport()
    by = engine.language_model.name
    importance_by = "rule" if by == EXTRACTIVE else "model"
    changed: list[Reappraised] = []
    unchanged = not_rated = 0
    async with running(engine, agent_id, "reappraise", engine.asks(Reappraise), at) as run:
        for batch in await _batches(engine, rows):
            ratings = await _ask(engine, run, batch)
            found = [
                Reappraised(id=memory.id, text=memory.text, before=memory.importance, after=ratings[number])
                for number, (memory, _) in enumerate(batch, start=1)
                if number in ratings
            ]

            async def work(tx: Transaction, found: Sequence[Reappraised] = found) -> list[Reappraised]:
                await lock(tx, agent_id)
                return await _set(tx, agent_id, found, "reappraise", at, importance_by=importance_by, by=by, reason="")

            written = await engine.store.write(work)
            changed += written
            not_rated += len(batch) - len(found)
            unchanged += len(found) - len(written)
    return ReappraiseReport(
        run_id=run.id,
        changed=tuple(changed),
        unchanged=unchanged,
        refused=tuple(run.refused),
        not_rated=not_rated,
    )


_Item = tuple[AnyMemory, Experienced]


async def _batches(engine: Engine, rows: Sequence[Row]) -> list[list[_Item]]:
    """Memories in groups that have room in a prompt, each shortened where it is long."""
    window = await window_of(engine)
    room = window.prompt // 2
    most = max(200, room // AT_ONCE)

    def items() -> Iterator[_Item]:
        for row in rows:
            memory = to_memory(row)
            yield (
                memory,
                Experienced(
                    text=shorten(memory.text, most),
                    importance=memory.importance,
                    later=tuple(shorten(text, most) for text in row["later"]),
                    citations=row["citations"],
                    shown=row["shown"],
                ),
            )

    groups: list[list[_Item]] = [[]]
    taken = 0
    for item in items():
        size = window.count(quote(item[1].model_dump(mode="json")))
        if groups[-1] and (taken + size > room or len(groups[-1]) == AT_ONCE):
            groups.append([])
            taken = 0
        groups[-1].append(item)
        taken += size
    return groups


async def _ask(engine: Engine, run: Run, batch: Sequence[_Item]) -> dict[int, int]:
    shown: list[Row] = [
        {"id": memory.id, "rank": rank, "score": None} for rank, (memory, _) in enumerate(batch, start=1)
    ]
    reply = await run.ask(engine, Reappraise(items=tuple(item for _, item in batch)), shown)
    found = rated(reply.value.ratings, len(batch))
    run.refused += found.refused
    return found.importance


async def _set(
    tx: Transaction,
    agent_id: str,
    found: Sequence[Reappraised],
    verb: str,
    at: datetime,
    *,
    importance_by: str,
    by: str,
    reason: str,
) -> list[Reappraised]:
    """Write what differs, with a Change for each; what changed in the meantime stays. The agent is locked."""
    rows: list[Row] = [
        {"id": item.id, "before": item.before, "after": item.after, "by": importance_by} for item in found
    ]
    written = {row["id"] for row in await tx.run("importance/set", agentId=agent_id, rows=rows, now=at)}
    changed = [item for item in found if item.id in written and item.before != item.after]
    if changed:
        revision = await truth.begin(tx, agent_id, at)
        for item in changed:
            await revision.log(tx, item.id, verb, by=by, reason=reason, importance=(item.before, item.after))
    return changed
