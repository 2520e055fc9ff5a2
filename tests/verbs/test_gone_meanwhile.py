"""What is forgotten while it is in use: each verb ends in an error that says so, and nothing is half written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import neo4j
import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition import retrieve, truth, work
from graphmem.cognition.engine import lock
from graphmem.errors import StoreInconsistent, UnknownAgent
from graphmem.graph.shapes import NODES
from graphmem.graph.store import Row, Transaction
from graphmem.graph.values import ALWAYS, Vanished, decode
from graphmem.models import PAPER, Filters
from graphmem.settings import Settings

WATCH = [{"text": f"Lio mends plank {number} of the Petrel", "importance": 9} for number in range(20)]


async def while_it_is_deleted(settings: Settings, agent: AsyncAgent, work: Callable[[], Awaitable[object]]) -> object:
    """Begin something that waits for the agent's lock, which another holds that deletes the agent."""
    assert settings.password is not None
    auth = (settings.user, settings.password.get_secret_value())
    async with (
        neo4j.AsyncGraphDatabase.driver(str(settings.uri), auth=auth) as driver,
        driver.session(database=settings.database) as session,
    ):
        other = await session.begin_transaction()
        gone = "MATCH (agent:Agent {id: $id}) SET agent.writtenAt = datetime() DETACH DELETE agent"
        await (await other.run(gone, id=agent.id)).consume()
        waiting = asyncio.ensure_future(work())
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done, "it waits for the lock"
        await other.commit()
        return await waiting


async def test_what_waited_for_an_agent_that_was_deleted_finds_none(
    settings: Settings, memory: AsyncMemory, agent: AsyncAgent
) -> None:
    now = await memory._engine.now(agent.id, None)
    for begins in (lambda tx: lock(tx, agent.id), lambda tx: truth.begin(tx, agent.id, now)):
        await agent.configure(name="Ines")
        with pytest.raises(UnknownAgent):
            await while_it_is_deleted(settings, agent, partial(memory._engine.store.write, begins))


async def test_who_is_told_something_while_being_deleted_begins_anew(settings: Settings, agent: AsyncAgent) -> None:
    await agent.configure(name="Ines")
    await while_it_is_deleted(settings, agent, lambda: agent.observe("The Petrel leaks", importance=5))
    info = await agent.info()
    assert (info.name, info.observations, info.revision) == (agent.id, 1, 0)


async def test_an_agent_that_is_forgotten_while_it_thinks_costs_the_others_nothing(
    memory: AsyncMemory, thinking: Open, agent_id: str
) -> None:
    class Forgetful(Scripted):
        async def reply(self, task: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
            if agent_id in {info.id for info in await memory.agents()}:
                await memory.forget_agent(agent_id)
            return await super().reply(task)  # pyright: ignore[reportArgumentType]

    model = Forgetful(
        infer=lambda task: {"insights": [{"text": "Lio mends planks.", "evidence": numbers_of(task)[:3]}]}
    )
    agent = await thinking(model)  # pyright: ignore[reportArgumentType]
    assert agent.id == agent_id
    await agent.observe_many(WATCH)
    with pytest.raises(UnknownAgent):
        await agent.reflect(force=True)
    await agent.observe_many(WATCH)
    before = len(model.tasks)
    report = await work.work_once(agent._engine, agent_id=agent_id)
    assert (len(model.tasks) > before, report.failures, report.reflections) == (True, (), 0)


async def test_nothing_is_found_where_all_was_forgotten_since(memory: AsyncMemory, agent: AsyncAgent) -> None:
    """Between the look at how much there is and the search."""
    engine = memory._engine
    await agent.configure(name="Ines")
    vector = await engine.embed_query("Who mends the Petrel?")
    asked = retrieve.Asked(agent.id, vector, 5, PAPER, await engine.now(agent.id, None), Filters())
    found, exact = await retrieve.score(engine, asked, near=3, ranked=3)
    assert (found["hits"], exact) == ([], True)


WHOLE: Row = dict.fromkeys(ALWAYS["memory"], "a")


def test_a_whole_node_is_read() -> None:
    row = {"memory": WHOLE, "labels": ["Memory"], "other": None, "edge": {}}
    assert decode(row) == row


@pytest.mark.parametrize("kind", ["Observation", "Reflection", "Plan", "run", "change", "place"])
def test_what_each_node_must_have_to_be_read_is_what_it_must_have_to_be_imported(kind: str) -> None:
    needed = {field.alias for field in NODES[kind].model_fields.values() if field.is_required()}
    # An export leaves the agent's id to the file, and what a reflection says of its writer only a reflection has.
    named = {*ALWAYS.get(kind, ALWAYS["memory"])} - {"agentId", "scope"}
    assert named == needed - {"writtenBy", "start", "end", "state"}


@pytest.mark.parametrize(
    "rows",
    [
        [{"memory": {"embedding": None}, "labels": []}],
        [{"memory": {"id": "a", "text": "tiles"}, "labels": []}],
        [{"hits": [{"score": 0.5, "memory": WHOLE, "labels": ["Memory"]}, {"memory": WHOLE, "labels": []}]}],
        [{"memory": WHOLE, "other": {"id": None, "text": None}}],
        [{"memory": {name: value for name, value in WHOLE.items() if name != "status"}, "labels": ["Memory"]}],
        [{"run": {"id": "r"}}],
    ],
)
def test_what_was_deleted_while_it_was_read_is_known_by_what_it_lacks(rows: list[Row]) -> None:
    with pytest.raises(Vanished):
        decode(rows)


@pytest.fixture
async def nameless(settings: Settings, memory: AsyncMemory, agent: AsyncAgent) -> AsyncIterator[str]:
    """An agent without a name, as one may look that is being deleted: a statement that promises one cannot give it."""
    other = f"{agent.id}-other"
    await memory.agent(other).observe("The Petrel leaks", importance=5)
    assert settings.password is not None
    auth = (settings.user, settings.password.get_secret_value())
    async with neo4j.AsyncGraphDatabase.driver(str(settings.uri), auth=auth) as driver:
        await driver.execute_query(
            "MATCH (agent:Agent {id: $id}) REMOVE agent.name", id=other, database_=settings.database
        )
    yield other
    await memory.agent(other).configure(name="Ines")
    await memory.forget_agent(other)


async def test_work_that_meets_what_is_being_deleted_begins_again(
    memory: AsyncMemory, agent: AsyncAgent, nameless: str
) -> None:
    await agent.configure(name="Ines")
    store = memory._engine.store
    for access in (store.read, store.write):
        asked = [nameless, nameless, agent.id]

        async def work(tx: Transaction, asked: list[str] = asked) -> list[Row]:
            return await tx.run("plan/agent", agentId=asked.pop(0))

        assert ((await access(work))[0]["name"], asked) == ("Ines", [])


async def test_what_is_never_whole_is_told_and_not_read_for_ever(memory: AsyncMemory, nameless: str) -> None:
    with pytest.raises(StoreInconsistent, match="6 tries") as failed:
        await memory._engine.store.query("plan/agent", agentId=nameless)
    assert "doctor" in failed.value.remedy
    (broken,) = await memory.agent(nameless).check()
    assert (broken.rule, broken.id, broken.problem) == ("whole", nameless, "agent without name")


async def test_a_memory_that_lacks_all_that_can_be_lacking_is_told(settings: Settings, agent: AsyncAgent) -> None:
    """The doctor that every error of this kind names cannot fail of what it is to find."""
    await agent.observe("Lio mends the Petrel", id="m", importance=5)
    assert settings.password is not None
    auth = (settings.user, settings.password.get_secret_value())
    emptied = (
        "MATCH (memory:Memory {agentId: $id, id: 'm'}) WITH memory, properties(memory) AS was"
        " SET memory = {agentId: $id, id: 'm'} RETURN was"
    )
    async with neo4j.AsyncGraphDatabase.driver(str(settings.uri), auth=auth) as driver:
        (found,), _, _ = await driver.execute_query(emptied, id=agent.id, database_=settings.database)
        broken = {violation.rule: violation.problem for violation in await agent.check()}
        await driver.execute_query(
            "MATCH (memory:Memory {agentId: $id, id: 'm'}) SET memory = $was",
            id=agent.id,
            was=found["was"],
            database_=settings.database,
        )
    assert broken["ended"] == "is of no status, but not marked so everywhere"
    assert {"status", "text"} <= {*broken["whole"].removeprefix("memory without ").split(", ")}
