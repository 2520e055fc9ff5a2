"""Sharing: one agent tells another; the other remembers that it heard it, and from whom."""

from __future__ import annotations

from datetime import datetime

from graphmem.cognition.engine import Engine, checked_id, create_agent, fetch_one, lock
from graphmem.cognition.observe import create, rows_for
from graphmem.errors import Forgotten, InvalidInput
from graphmem.graph.records import digest
from graphmem.graph.store import Transaction
from graphmem.models import AnyMemory, NewObservation, Observation


async def share(engine: Engine, agent_id: str, memory_id: str, *, with_: str, now: object = None) -> Observation:
    """Tell another agent a memory: it gets an utterance of its own, HEARD_FROM the original.

    Its id is made of whose and which memory was told, so that telling it again tells nothing new. What becomes of the
    original later changes nothing of what was heard.

    Raises:
        InvalidInput: When the other is the agent itself, or the memory is not active.
        UnknownMemory, UnknownAgent: When there is no such memory, or agent to tell of.
        Forgotten: When the other was told it and has forgotten it.
    """
    memory_id, other = checked_id(memory_id), checked_id(with_, "with_")
    if other == agent_id:
        raise InvalidInput(f"with_: {other!r} is the agent itself", remedy="name the agent that is to hear it")
    told = await engine.store.read(lambda tx: _held(tx, agent_id, memory_id))
    heard_id = f"heard-{digest(f'{len(agent_id)}:{agent_id}{memory_id}')[:24]}"
    at: datetime = await engine.now(agent_id, now)
    item = NewObservation(text=told.text, kind="utterance", source=agent_id, id=heard_id)
    rows = await rows_for(engine, other, {heard_id: item}, at)

    async def work(tx: Transaction) -> None:
        for id_ in sorted((agent_id, other)):
            await (lock(tx, id_) if id_ == agent_id else create_agent(tx, id_))
        await _held(tx, agent_id, memory_id)
        known = await tx.run("observe/known", agentId=other, ids=[heard_id])
        if known and known[0]["status"] == "forgotten":
            raise Forgotten(
                f"agent {other!r} was told this and has forgotten it: {heard_id!r}", ids=(heard_id,), positions=(0,)
            )
        if not known:
            await create(tx, other, rows, at)
        await tx.run("import/heard", agentId=other, rows=[{"id": heard_id, "agentId": agent_id, "memoryId": memory_id}])

    await engine.store.write(work)
    heard = await engine.store.read(lambda tx: fetch_one(tx, other, heard_id))
    assert isinstance(heard, Observation)
    return heard


async def _held(tx: Transaction, agent_id: str, memory_id: str) -> AnyMemory:
    memory = await fetch_one(tx, agent_id, memory_id)
    if memory.status != "active":
        raise InvalidInput(
            f"memory {memory_id!r} is {memory.status}: what is not held cannot be told",
            remedy="share what replaced it, or bring it up to date first",
        )
    return memory
