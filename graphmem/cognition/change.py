"""Changes of belief by the caller: supersede, retract and restore. Dependents turn stale in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import get_args

from graphmem.cognition import keyed, truth
from graphmem.cognition.engine import CALLER, Engine, checked_id, fetch, fetch_one, new_id, unknown_agent
from graphmem.cognition.observe import create, rows_for
from graphmem.errors import (
    AlreadyEnded,
    InvalidInput,
    KeyMismatch,
    NotActive,
    NotEnded,
    NotNewest,
    RestsOnItself,
    SelfSupersession,
)
from graphmem.graph.records import scope_token
from graphmem.graph.store import Row, Transaction
from graphmem.models import (
    MAX_TEXT,
    AnyMemory,
    Changed,
    ChangeReport,
    Mode,
    NewObservation,
    Observation,
    RunRef,
    storable,
    validated,
)

MOST_LISTED = 1_000
"""Memories that turned stale are told whole up to here, and by their ids beyond: reading ten thousand takes seconds."""


async def supersede(
    engine: Engine,
    agent_id: str,
    old: str,
    *,
    text: str | None = None,
    by: str | None = None,
    mode: Mode = "correction",
    reason: str = "",
    now: object = None,
) -> ChangeReport:
    """Replace a memory by another of the same agent, or by a new observation of kind fact with the text given.

    Args:
        engine: The open store with its models.
        agent_id: Whose memory it is.
        old: The memory to replace; active or stale.
        text: The replacement's text; give this or ``by``.
        by: The replacement, an active memory of the same agent.
        mode: ``correction``: the old one was wrong. ``update``: it was true until now.
        reason: Kept in the log and on the SUPERSEDES relationship.
        now: The time of the change.

    Raises:
        InvalidInput: When neither or both of ``text`` and ``by`` are given, or a value is refused.
        UnknownAgent, UnknownMemory: When there is no such agent or memory of that agent.
        SelfSupersession, AlreadyEnded, NotActive, KeyMismatch, RestsOnItself: When a rule would be broken. Nothing was
            written.
    """
    old = checked_id(old)
    if (text is None) == (by is None):
        raise InvalidInput("give either the text of the replacement or the id of a memory that replaces it")
    if mode not in get_args(Mode):
        raise InvalidInput(f"mode: {mode!r} is not one of {', '.join(get_args(Mode))}")
    reason = checked_reason(reason)
    if by is not None:
        by = checked_id(by, "by")
        if by == old:
            raise SelfSupersession(f"memory {old!r} cannot supersede itself")
    at = await engine.now(agent_id, now)
    new = by or new_id()
    rows = []
    if text is not None:
        validated(NewObservation, {"text": text})
        if not await engine.store.query("agent/state", agentId=agent_id):
            raise unknown_agent(agent_id)
        replaced = await engine.store.read(lambda tx: _replaceable(tx, agent_id, old))
        rows = await rows_for(engine, agent_id, {new: _replacement(text, replaced, mode, at)}, at)
        rows[0]["properties"]["importanceBy"] = replaced.importance_by  # It is as important as what it replaces.

    async def work(tx: Transaction) -> ChangeReport:
        revision = await truth.begin(tx, agent_id, at)
        memory = await _replaceable(tx, agent_id, old)
        if by is not None:
            await _check_replacement(tx, agent_id, memory, await fetch_one(tx, agent_id, by))
        await revision.not_before(tx, [old, *([by] if by is not None else [])])
        await create(tx, agent_id, rows, at)
        # The next value of a key ends the one before; a correction takes its place.
        next_value = _key(memory) is not None and not _corrects(memory, mode, at)
        await truth.supersede(
            tx, revision, older=old, newer=new, mode=mode, reason=reason, by=CALLER,
            cause="key" if next_value else "caller", made=by is None,
        )  # fmt: skip
        await revision.log(tx, old, "supersede", by=CALLER, reason=reason)
        if not next_value and _key(memory) is not None:
            await tx.run("keyed/rank", agentId=agent_id, older=old, newer=new)
        settled = await _settle_key(tx, revision, memory, at)
        relabelled = [await truth.relabel(tx, revision, [old, *settled.changed])]
        return await _report(tx, revision, "supersede", old, replacement=new, relabelled=relabelled)

    return await _done(engine, await engine.store.write(work))


async def retract(
    engine: Engine, agent_id: str, memory_id: str, *, reason: str = "", now: object = None
) -> ChangeReport:
    """Stop holding a memory, with nothing in its place; of a keyed fact, the value before it holds again.

    Raises:
        UnknownAgent, UnknownMemory: When there is no such agent or memory of that agent.
        AlreadyEnded: When it was superseded, retracted or forgotten before.
        NotActive: When it is archived.
    """
    memory_id = checked_id(memory_id)
    reason = checked_reason(reason)
    at = await engine.now(agent_id, now)

    async def work(tx: Transaction) -> ChangeReport:
        revision = await truth.begin(tx, agent_id, at)
        memory = await _replaceable(tx, agent_id, memory_id)
        await revision.not_before(tx, [memory_id])
        await truth.end(tx, revision, memory_id, "retracted", cause="caller")
        await revision.log(tx, memory_id, "retract", by=CALLER, reason=reason)
        settled = await _settle_key(tx, revision, memory, at)
        relabelled = [await truth.relabel(tx, revision, [memory_id, *settled.changed])]
        restored = [*settled.revived, *await _restore_above(tx, revision, settled.revived, relabelled)]
        return await _report(tx, revision, "retract", memory_id, relabelled=relabelled, restored=restored)

    return await _done(engine, await engine.store.write(work))


async def restore(
    engine: Engine, agent_id: str, memory_id: str, *, reason: str = "", now: object = None
) -> ChangeReport:
    """Undo the newest change of a memory: it is held again.

    A replacement that was written for the change is retracted; one that existed before stays. Citations that a
    recompute had moved to the replacement move back. What recompute had revised or retracted, and whose old grounds
    are all active again, is restored as well, level by level, without a model.

    Raises:
        UnknownAgent, UnknownMemory: When there is no such agent or memory of that agent.
        NotEnded: When the memory is held.
        NotNewest: When what replaced it has ended as well: that change has to be undone first.
    """
    memory_id = checked_id(memory_id)
    reason = checked_reason(reason)
    at = await engine.now(agent_id, now)

    async def work(tx: Transaction) -> ChangeReport:
        revision = await truth.begin(tx, agent_id, at)
        memory = await fetch_one(tx, agent_id, memory_id)
        if memory.status not in ("superseded", "retracted"):
            raise NotEnded(
                f"memory {memory_id!r} is {memory.status}; only what was superseded or retracted is restored",
                remedy="graphmem unarchive takes out what was archived" if memory.status == "archived" else "",
            )
        newer = await tx.one("truth/superseder", agentId=agent_id, id=memory_id)
        await _check_latest(tx, agent_id, memory, newer)
        if newer is not None and newer["status"] not in ("active", "stale"):
            raise _not_newest(memory_id, newer)
        await revision.not_before(tx, [memory_id, *([newer["id"]] if newer is not None else [])])
        changed = await _undo(tx, revision, memory_id, newer)
        await revision.log(tx, memory_id, "restore", by=CALLER, reason=reason)
        settled = await _settle_key(tx, revision, memory, at)
        relabelled = [await truth.relabel(tx, revision, [*changed, *settled.changed])]
        restored = await _restore_above(tx, revision, [memory_id], relabelled)
        return await _report(
            tx, revision, "restore", memory_id, replacement=newer["id"] if newer else None,
            relabelled=relabelled, restored=restored,
        )  # fmt: skip

    return await _done(engine, await engine.store.write(work))


async def _done(engine: Engine, report: ChangeReport) -> ChangeReport:
    """Tell the listeners what was committed."""
    memory, replacement = report.memory, report.replacement
    ended = [memory, *([replacement] if replacement else [])]
    held = [*ended, *report.restored]
    await engine.tell(
        Changed(
            agent_id=memory.agent_id,
            verb=report.verb,
            revision=report.revision,
            ended=tuple(item.id for item in ended if item.ended_at is not None),
            held=tuple(item.id for item in held if item.ended_at is None),
            stale=report.stale_ids,
            active=tuple(item.id for item in report.active),
            used_by=report.used_by,
        )
    )
    return report


async def _restore_above(
    tx: Transaction, revision: truth.Revision, ids: Sequence[str], relabelled: list[truth.Relabelled]
) -> list[str]:
    """Hold again, level by level, what recompute had ended and whose old grounds are all active again."""
    restored: list[str] = []
    # Also what turned active again below: it may have been the last old ground that was missing.
    level = [*ids, *(id_ for step in relabelled for id_ in step.active)]
    while level:
        rows = await tx.run("truth/revocable", agentId=revision.agent_id, ids=level)
        below, level = ", ".join(level[:3]), list[str]()
        for row in rows:
            replacement = {"id": row["newer"], "made": row["made"]} if row["newer"] else None
            changed = await _undo(tx, revision, row["id"], replacement)
            await revision.log(tx, row["id"], "restore", by=CALLER, reason=f"its grounds hold again: {below}")
            step = await truth.relabel(tx, revision, changed)
            relabelled.append(step)
            restored.append(row["id"])
            level += [row["id"], *step.active]
    return restored


def _not_newest(memory_id: str, newer: Row) -> NotNewest:
    if newer["status"] == "forgotten":
        return NotNewest(
            f"what replaced {memory_id!r}, {newer['id']!r}, was forgotten, which cannot be undone",
            remedy="observe what holds as a new memory",
        )
    return NotNewest(
        f"what replaced {memory_id!r}, {newer['id']!r}, is {newer['status']} itself",
        remedy=f"restore {newer['id']!r} first",
    )


def _key(memory: AnyMemory) -> str | None:
    return memory.key if isinstance(memory, Observation) else None


def _corrects(old: AnyMemory, mode: Mode, now: datetime) -> bool:
    """Whether a replacement takes the place of the old memory: an update that leaves it no time does as well."""
    return mode == "correction" or (_key(old) is not None and now <= old.occurred_at)


async def _settle_key(tx: Transaction, revision: truth.Revision, memory: AnyMemory, now: datetime) -> keyed.Settled:
    """After a value of a keyed fact was ended or restored; nothing for other memories."""
    key = _key(memory)
    placed = [(key, memory.occurred_at), (key, max(memory.occurred_at, now))] if key is not None else []
    return await keyed.settle(tx, revision.agent_id, keyed.spans(placed), now, by=CALLER, revision=revision)


async def _check_latest(tx: Transaction, agent_id: str, memory: AnyMemory, newer: Row | None) -> None:
    """Of a keyed fact only the latest value can be restored; one that replaced it by this change is not counted."""
    if _key(memory) is None:
        return
    made = newer["id"] if newer is not None and newer["made"] else None
    row = await tx.one("keyed/later", agentId=agent_id, id=memory.id, besides=made)
    if row is not None and row["later"] is not None:
        raise NotNewest(
            f"memory {memory.id!r} is not the latest value of the key {_key(memory)!r}; {row['later']!r} is",
            remedy=f"retract {row['later']!r} instead: the value before it then holds again",
        )


async def _undo(tx: Transaction, revision: truth.Revision, memory_id: str, newer: Row | None) -> list[str]:
    """Hold a memory again, and end what was written to replace it; returns what changed."""
    agent_id = revision.agent_id
    await tx.run("truth/revive", agentId=agent_id, id=memory_id, scopeToken=scope_token(agent_id))
    if newer is None:
        return [memory_id]
    await tx.run("truth/revoke", agentId=agent_id, newer=newer["id"], older=memory_id, now=revision.now)
    moved = await tx.run("truth/move_back", agentId=agent_id, restored=memory_id, newer=newer["id"], now=revision.now)
    if newer["made"]:
        await truth.end(tx, revision, newer["id"], "retracted", cause="restore")
        await revision.log(tx, newer["id"], "restore:retracted", by=CALLER, reason="")
    return [memory_id, newer["id"], *(row["id"] for row in moved)]


def checked_reason(reason: object) -> str:
    """The reason of a change; it may be empty.

    Raises:
        InvalidInput: When it is not a string, too long, or cannot be stored.
    """
    if not isinstance(reason, str):
        raise InvalidInput(f"reason: {reason!r} is not a string")
    if len(reason) > MAX_TEXT:
        raise InvalidInput(f"reason: has {len(reason)} characters, at most {MAX_TEXT} are allowed")
    try:
        return storable(reason)
    except ValueError as error:
        raise InvalidInput(f"reason: {error}") from error


async def _replaceable(tx: Transaction, agent_id: str, memory_id: str) -> AnyMemory:
    """The memory, which must still be held."""
    memory = await fetch_one(tx, agent_id, memory_id)
    if memory.status in ("active", "stale"):
        return memory
    message, remedy = f"memory {memory_id!r} is {memory.status} already", ""
    if memory.status == "archived":
        raise NotActive(
            f"memory {memory_id!r} is archived",
            remedy=f"take it out first: graphmem unarchive {memory_id} --agent {agent_id}",
        )
    if memory.status == "superseded":
        # None: whoever only looks holds no lock, and it was forgotten since.
        for head in (await tx.run("truth/head", agentId=agent_id, ids=[memory_id]))[:1]:
            message += f"; what stands in its place is {head['head']!r} ({head['headStatus']})"
            remedy = f"change {head['head']!r} instead"
    raise AlreadyEnded(message, remedy=remedy)


async def _check_replacement(tx: Transaction, agent_id: str, old: AnyMemory, replacement: AnyMemory) -> None:
    key = _key(old)
    if key is not None and _key(replacement) != key:
        raise KeyMismatch(
            f"memory {old.id!r} is a value of the key {key!r}, and {replacement.id!r} is not",
            remedy="give the replacement's text, or observe the new value under that key",
        )
    if replacement.status != "active":
        raise NotActive(f"memory {replacement.id!r} is {replacement.status}; only an active one can replace another")
    if await truth.resting_on(tx, agent_id, old.id, [replacement.id]):
        raise RestsOnItself(
            f"memory {replacement.id!r} rests on {old.id!r}, so it cannot replace it",
            remedy="give the replacement's text instead",
        )


def _replacement(text: str, old: AnyMemory, mode: Mode, now: datetime) -> NewObservation:
    """A correction is about the same moment as what it corrects; an update begins now."""
    correction = _corrects(old, mode, now)
    return NewObservation(
        text=text,
        kind="fact",
        importance=old.importance,
        occurred_at=old.occurred_at if correction else now,
        session=old.session if correction and isinstance(old, Observation) else None,
        place=old.place if correction and isinstance(old, Observation) else None,
        key=_key(old),
        subject=old.subject,
        predicate=old.predicate,
    )


async def _report(
    tx: Transaction,
    revision: truth.Revision,
    verb: str,
    memory_id: str,
    *,
    replacement: str | None = None,
    relabelled: Sequence[truth.Relabelled],
    restored: Sequence[str] = (),
) -> ChangeReport:
    """Tell what happened, dependents included."""
    agent_id = revision.agent_id
    stale, active = dict[str, None](), set[str]()
    for step in relabelled:  # What one step turned, a later one may have turned back.
        stale = {id_: None for id_ in (*stale, *step.stale) if id_ not in step.active}
        active = (active | set(step.active)) - set(step.stale)
    if len(relabelled) > 1:  # A later step may have ended it.
        left = await truth.statuses(tx, agent_id, list(stale))
        stale = {id_: None for id_ in stale if left.get(id_) == "stale"}
    listed = list(stale)[:MOST_LISTED]
    named = [memory_id, *([replacement] if replacement else []), *listed, *active, *restored]
    found = await fetch(tx, agent_id, named)

    def told(ids: Iterable[str]) -> list[AnyMemory]:
        return sorted((found[id_] for id_ in ids), key=lambda memory: (memory.depth, memory.id))

    used_by = await tx.run("truth/used_by", agentId=agent_id, ids=[memory_id])
    return validated(
        ChangeReport,
        {
            "verb": verb,
            "memory": found[memory_id],
            "replacement": found[replacement] if replacement else None,
            "stale_ids": list(stale),
            "stale": [found[id_] for id_ in listed],
            "active": told(id_ for id_ in active - {memory_id} - set(restored) if found[id_].status == "active"),
            "restored": told(restored),
            "used_by": [RunRef.model_validate(row) for row in used_by],
            "revision": revision.seq,
        },
    )
