"""Changes of belief by the caller: supersede and retract. Dependents turn stale in the same transaction."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from graphmem.cognition import truth
from graphmem.cognition.engine import Engine, checked_id, fetch, fetch_one, new_id
from graphmem.cognition.observe import create, rows_for
from graphmem.errors import AlreadyEnded, InvalidInput, NotActive, RestsOnItself, SelfSupersession
from graphmem.graph.store import Transaction
from graphmem.models import (
    MAX_TEXT,
    AnyMemory,
    ChangeReport,
    Mode,
    NewObservation,
    Observation,
    RunRef,
    storable,
    validated,
)

CALLER = "caller"
"""Who changed a belief through the API, in the log and on SUPERSEDES."""


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
        SelfSupersession, AlreadyEnded, NotActive, RestsOnItself: When a rule would be broken. Nothing was written.
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
        replaced = await engine.store.read(lambda tx: _replaceable(tx, agent_id, old))
        rows = await rows_for(engine, agent_id, {new: _replacement(text, replaced, mode, at)}, at)
        rows[0]["properties"]["importanceBy"] = replaced.importance_by  # It is as important as what it replaces.

    async def work(tx: Transaction) -> ChangeReport:
        revision = await truth.begin(tx, agent_id, at)
        memory = await _replaceable(tx, agent_id, old)
        if by is not None:
            await _check_replacement(tx, agent_id, old, await fetch_one(tx, agent_id, by))
        await create(tx, agent_id, rows)
        await truth.supersede(tx, revision, older=old, newer=new, mode=mode, reason=reason, by=CALLER)
        await revision.log(tx, old, "supersede", by=CALLER, reason=reason)
        return await _report(tx, revision, "supersede", memory.id, replacement=new)

    return await engine.store.write(work)


async def retract(
    engine: Engine, agent_id: str, memory_id: str, *, reason: str = "", now: object = None
) -> ChangeReport:
    """Stop holding a memory, with nothing in its place.

    Raises:
        UnknownAgent, UnknownMemory: When there is no such agent or memory of that agent.
        AlreadyEnded: When it was superseded, retracted or forgotten before.
    """
    memory_id = checked_id(memory_id)
    reason = checked_reason(reason)
    at = await engine.now(agent_id, now)

    async def work(tx: Transaction) -> ChangeReport:
        revision = await truth.begin(tx, agent_id, at)
        await _replaceable(tx, agent_id, memory_id)
        await truth.end(tx, revision, memory_id, "retracted")
        await revision.log(tx, memory_id, "retract", by=CALLER, reason=reason)
        return await _report(tx, revision, "retract", memory_id)

    return await engine.store.write(work)


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
    if memory.status == "superseded":
        heads = await tx.run("truth/head", agentId=agent_id, ids=[memory_id])
        message += f"; what stands in its place is {heads[0]['head']!r} ({heads[0]['headStatus']})"
        remedy = f"change {heads[0]['head']!r} instead"
    raise AlreadyEnded(message, remedy=remedy)


async def _check_replacement(tx: Transaction, agent_id: str, old: str, replacement: AnyMemory) -> None:
    if replacement.status != "active":
        raise NotActive(f"memory {replacement.id!r} is {replacement.status}; only an active one can replace another")
    if await truth.resting_on(tx, agent_id, old, [replacement.id]):
        raise RestsOnItself(
            f"memory {replacement.id!r} rests on {old!r}, so it cannot replace it",
            remedy="give the replacement's text instead",
        )


def _replacement(text: str, old: AnyMemory, mode: Mode, now: datetime) -> NewObservation:
    """A correction is about the same moment as what it corrects; an update begins now."""
    correction = mode == "correction"
    return NewObservation(
        text=text,
        kind="fact",
        importance=old.importance,
        occurred_at=old.occurred_at if correction else now,
        session=old.session if correction and isinstance(old, Observation) else None,
        place=old.place if correction and isinstance(old, Observation) else None,
        subject=old.subject,
        predicate=old.predicate,
    )


async def _report(
    tx: Transaction, revision: truth.Revision, verb: str, memory_id: str, *, replacement: str | None = None
) -> ChangeReport:
    """Relabel what rests on the memory, and tell what happened."""
    agent_id = revision.agent_id
    relabelled = await truth.relabel(tx, revision, [memory_id])
    wanted = [memory_id, *([replacement] if replacement else []), *relabelled.stale]
    found = await fetch(tx, agent_id, wanted)
    used_by = await tx.run("truth/used_by", agentId=agent_id, id=memory_id)
    return validated(
        ChangeReport,
        {
            "verb": verb,
            "memory": found[memory_id],
            "replacement": found[replacement] if replacement else None,
            "stale": sorted((found[id_] for id_ in relabelled.stale), key=lambda memory: (memory.depth, memory.id)),
            "used_by": [RunRef.model_validate(row) for row in used_by],
            "revision": revision.seq,
        },
    )
