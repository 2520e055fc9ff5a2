"""Exact look-ups: agents, memories by id, by a shortened id, by what they name, page by page."""

from __future__ import annotations

from typing import Any, get_args

from pydantic.alias_generators import to_camel

from graphmem.cognition.engine import Engine, checked_id, checked_limit, create_agent, fetch_one, unknown_agent
from graphmem.errors import AmbiguousId, InvalidInput, UnknownMemory
from graphmem.graph.records import to_agent, to_memory, to_store
from graphmem.graph.schema import index_names
from graphmem.graph.store import Store, Transaction
from graphmem.models import (
    AgentConfig,
    AgentInfo,
    AnyMemory,
    Backlog,
    Counted,
    IndexState,
    Status,
    StoreInfo,
    StoreStatus,
    validated,
)

LABELS = {"observation": "Observation", "reflection": "Reflection", "plan": "Plan"}


async def agents(store: Store) -> tuple[AgentInfo, ...]:
    """Every agent, by id."""
    return tuple(to_agent(row) for row in await store.query("agent/info", agentId=None))


async def store_info(store: Store) -> tuple[StoreInfo, tuple[AgentInfo, ...]]:
    """What the store is, and its agents; whatever is there is told, and nothing is made or changed."""

    async def work(tx: Transaction) -> tuple[StoreInfo, tuple[AgentInfo, ...]]:
        rows = [await tx.one(name) or {} for name in ("store/server", "store/schema")]
        agents = tuple(to_agent(row) for row in await tx.run("agent/info", agentId=None))
        return to_store(store.uri, store.database, rows, agents), agents

    return await store.read(work)


async def status(store: Store) -> StoreStatus:
    """How the store is; whatever is there is told, and nothing is made or changed."""
    info, agents = await store_info(store)
    indexes = {row["name"]: row for row in await store.query("store/indexes")}
    backlog = await store.query("store/backlog", agentId=None)
    (spent,) = await store.query("store/spent", agentId=None)
    return StoreStatus(
        info=info,
        agents=agents,
        counts=tuple(Counted(**row) for row in await store.query("store/counts", agentId=None)),
        backlog=tuple(Backlog(agent_id=row["id"], since=row["staleSince"], failing=row["failing"]) for row in backlog),
        indexes=tuple(
            IndexState(name=name, state=indexes[name]["state"], percent=indexes[name]["percent"])
            if name in indexes
            else IndexState(name=name, state="MISSING")
            for name in sorted(index_names())
        ),
        runs=spent["runs"],
        prompt_tokens=spent["promptTokens"],
        completion_tokens=spent["completionTokens"],
        cost=spent["cost"],
    )


async def info(engine: Engine, agent_id: str) -> AgentInfo:
    """One agent.

    Raises:
        UnknownAgent: When nothing was ever written for that id.
    """
    rows = await engine.store.query("agent/info", agentId=agent_id)
    if not rows:
        raise unknown_agent(agent_id)
    return to_agent(rows[0])


async def configure(engine: Engine, agent_id: str, **given: Any) -> AgentInfo:
    """Set what is given on an agent, creating it when it is new.

    Raises:
        InvalidInput: When a value is refused.
    """
    config = validated(AgentConfig, {name: value for name, value in given.items() if value is not None})
    properties = agent_properties(config)
    if config.reflection_threshold is not None:
        properties["reflectionEvery"] = None

    async def work(tx: Transaction) -> None:
        await create_agent(tx, agent_id)
        await tx.run("agent/configure", agentId=agent_id, properties=properties)
        if config.reflection_every is not None:
            await tx.run("agent/count_in", agentId=agent_id, count=0, importance=0)  # Brings the threshold up to date.

    await engine.store.write(work)
    return await info(engine, agent_id)


def agent_properties(config: AgentConfig) -> dict[str, Any]:
    """What is set in a configuration, as properties of the agent's node."""
    return {to_camel(name): value for name, value in config.model_dump(exclude_none=True).items()}


async def must_exist(store: Store, *agent_ids: str) -> None:
    """Raise UnknownAgent where nothing was ever written for one of them; its remedy names those that may be meant."""
    for agent_id in agent_ids:
        if not await store.query("agent/state", agentId=agent_id):
            similar = await store.query("agent/similar", called=agent_id)
            raise unknown_agent(agent_id, meant=[row["id"] for row in similar])


async def get(engine: Engine, agent_id: str, memory_id: str) -> AnyMemory:
    """One memory, by its full id.

    Raises:
        UnknownMemory: When this agent has none of that id.
    """
    memory_id = checked_id(memory_id)
    return await engine.store.read(lambda tx: fetch_one(tx, agent_id, memory_id))


async def resolve(engine: Engine, agent_id: str, prefix: str) -> str:
    """The full id that a shortened one stands for; an exact match always wins.

    Raises:
        UnknownMemory: When none of the agent's ids begins so.
        AmbiguousId: When several do; the message names them.
    """
    prefix = checked_id(prefix)
    ids = [row["id"] for row in await engine.store.query("memory/ids", agentId=agent_id, prefix=prefix)]
    if not ids:
        raise UnknownMemory(
            f"agent {agent_id!r} has no memory {prefix!r}",
            remedy=f"list its memories with: graphmem memories --agent {agent_id}",
        )
    if len(ids) > 1 and ids[0] != prefix:
        listed = ", ".join(ids[:10]) + (", …" if len(ids) > 10 else "")
        raise AmbiguousId(f"the id {prefix!r} fits several memories: {listed}", remedy="give more of the id")
    return ids[0]


async def memories(
    engine: Engine,
    agent_id: str,
    *,
    type: str | None = None,
    status: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> tuple[AnyMemory, ...]:
    """A page of an agent's memories, in the order of their ids; ``after`` is the last id of the page before.

    Raises:
        InvalidInput: When the type or status is unknown, or the limit is not from 1 to 10,000.
    """
    if type is not None and type not in tuple(LABELS):
        raise InvalidInput(f"type: {type!r} is not one of {', '.join(LABELS)}")
    _check_status(status)
    rows = await engine.store.query(
        "memory/list",
        agentId=agent_id,
        label=LABELS[type] if type else None,
        status=status,
        limit=checked_limit(limit),
        after=checked_id(after, "after") if after is not None else "",
    )
    return tuple(to_memory(row) for row in rows)


async def about(
    engine: Engine,
    agent_id: str,
    entity: str,
    *,
    status: str | None = "active",
    limit: int = 100,
    after: str | None = None,
) -> tuple[AnyMemory, ...]:
    """A page of the memories that name an entity as subject, object, source or keyword, latest first.

    Only the name itself counts, letter by letter: no other spelling, no part of a name, nothing in a text.
    ``after`` is the last id of the page before; a status of None stands for every status.

    Raises:
        InvalidInput: When the name, the status or the limit is refused.
        UnknownMemory: When there is no memory ``after``.
    """
    entity = checked_id(entity, "entity")
    _check_status(status)
    limit = checked_limit(limit)
    after = checked_id(after, "after") if after is not None else None

    async def work(tx: Transaction) -> tuple[AnyMemory, ...]:
        if after is not None:
            await fetch_one(tx, agent_id, after)
        rows = await tx.run(
            "memory/about",
            agentId=agent_id,
            entity=entity,
            status=status,
            limit=limit,
            after=after,
        )
        return tuple(to_memory(row) for row in rows)

    return await engine.store.read(work)


def _check_status(status: object) -> None:
    if status is not None and status not in get_args(Status):
        raise InvalidInput(f"status: {status!r} is not one of {', '.join(get_args(Status))}")


async def agent_ids(store: Store, prefix: str, *, limit: int) -> tuple[str, ...]:
    """The first ids of agents that begin so, without counting what they remember."""
    return tuple(row["id"] for row in await store.query("agent/ids", prefix=prefix, limit=limit))
