"""Saying something to another agent: both remember it, the listener HEARD_FROM the speaker, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from graphmem.cognition.ask import name_of
from graphmem.cognition.engine import Engine, checked_id, create_agent, fetch_one, new_id
from graphmem.cognition.observe import create, rows_for
from graphmem.errors import Forgotten, IdConflict, InvalidInput
from graphmem.graph.store import Row, Transaction
from graphmem.models import NewObservation, Observation, validated


async def say(
    engine: Engine,
    agent_id: str,
    to: str,
    message: str,
    *,
    telling: Sequence[str] = (),
    id: str | None = None,
    session: str | None = None,
    place: str | None = None,
    run_id: str | None = None,
    now: object = None,
) -> Observation:
    """Say something to another agent; returns the speaker's own memory of it, the listener's has the same id.

    Said again under the same id it is said once.

    Args:
        engine: The open store with its models.
        agent_id: Who speaks.
        to: Who hears it.
        message: What is said.
        telling: Ids of the speaker's memories that it tells: how news is followed back to its origin.
        id: Idempotency key, of both memories.
        session: The conversation that it belongs to.
        place: Where.
        run_id: The run that it was said in.
        now: When.

    Raises:
        InvalidInput: When a value is refused, the listener is the speaker, or what is told is not held.
        IdConflict: When the id is taken by something else.
        UnknownAgent, UnknownMemory: When the speaker is not there, or has no such memory to tell.
        Forgotten: When one of them has forgotten it.
    """
    other = checked_id(to, "to")
    if other == agent_id:
        raise InvalidInput(f"to: {other!r} is the agent itself", remedy="name the agent that is to hear it")
    utterance_id = checked_id(id) if id is not None else new_id()
    at: datetime = await engine.now(agent_id, now)
    given = {
        "text": message,
        "kind": "utterance",
        "source": await name_of(engine, agent_id),
        "session": session,
        "place": place,
        "id": utterance_id,
    }
    item = validated(NewObservation, {name: value for name, value in given.items() if value is not None})
    told = list(dict.fromkeys(checked_id(memory_id, "telling") for memory_id in telling))
    rows = {who: await rows_for(engine, who, {utterance_id: item}, at) for who in (agent_id, other)}

    async def work(tx: Transaction) -> None:
        for who in sorted(rows):
            await create_agent(tx, who)
        for memory_id in told:
            memory = await fetch_one(tx, agent_id, memory_id)
            if memory.status != "active":
                raise InvalidInput(
                    f"telling: memory {memory_id!r} is {memory.status}: what is not held cannot be told",
                    remedy="tell what replaced it, or bring it up to date first",
                )
        for who, row in rows.items():
            await _write(tx, who, row, at)
        heard = [{"id": utterance_id, "agentId": agent_id, "memoryId": utterance_id}]
        await tx.run("import/heard", agentId=other, rows=heard)
        ranked = [{"id": memory_id, "rank": rank} for rank, memory_id in enumerate(told, start=1)]
        await tx.run("say/tells", agentId=agent_id, id=utterance_id, runId=run_id, told=ranked)

    await engine.store.write(work)
    said = await engine.store.read(lambda tx: fetch_one(tx, agent_id, utterance_id))
    assert isinstance(said, Observation)
    return said


async def _write(tx: Transaction, agent_id: str, rows: Sequence[Row], now: datetime) -> None:
    """Create one side's memory, unless it is there with the same content; the agent is locked."""
    properties = rows[0]["properties"]
    known = await tx.run("observe/known", agentId=agent_id, ids=[properties["id"]])
    if not known:
        await create(tx, agent_id, rows, now)
    elif known[0]["status"] == "forgotten":
        raise Forgotten(
            f"agent {agent_id!r} was told to forget {properties['id']!r}", ids=(properties["id"],), positions=(0,)
        )
    elif known[0]["contentHash"] != properties["contentHash"]:
        raise IdConflict(
            f"agent {agent_id!r} has other content under the id {properties['id']!r}",
            ids=(properties["id"],),
            positions=(0,),
            remedy="say it under an id of its own",
        )
