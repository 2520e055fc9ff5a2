"""Exact look-ups by name: subject, object, source and keywords, letter by letter, within one agent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import AsyncMemory, Memory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, UnknownMemory

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def found(agent: AsyncAgent, entity: str, **options: object) -> list[str]:
    return [memory.id for memory in await agent.about(entity, **options)]  # pyright: ignore[reportArgumentType]


async def test_every_place_where_a_name_stands(agent: AsyncAgent) -> None:
    await agent.observe_many(
        [
            {"text": "a", "id": "subject", "subject": "Mira Kos", "importance": 1, "occurred_at": NOW},
            {"text": "b", "id": "object", "object": "Mira Kos", "importance": 1, "occurred_at": NOW - timedelta(1)},
            {"text": "c", "id": "source", "source": "Mira Kos", "importance": 1, "occurred_at": NOW - timedelta(2)},
            {"text": "d", "id": "keyword", "keywords": ["x", "Mira Kos"], "importance": 1, "occurred_at": NOW},
            {"text": "Mira Kos", "id": "text", "predicate": "Mira Kos", "place": "Mira Kos", "importance": 1},
            {"text": "e", "id": "other", "subject": "mira kos", "object": "Mira", "source": "Kos", "importance": 1},
            {"text": "f", "id": "many", "keywords": ["Mira", "Kos", "Mira  Kos", "Mira Kos "], "importance": 1},
        ]
    )
    assert await found(agent, "Mira Kos") == ["keyword", "subject", "object", "source"]
    assert await found(agent, "Mira") == ["many", "other"] or await found(agent, "Mira") == ["other", "many"]
    assert await found(agent, "mira kos") == ["other"]
    assert await found(agent, "Mira*") == []
    assert await found(agent, "Mira Kos OR x") == []


async def test_only_what_is_active_unless_asked_otherwise(agent: AsyncAgent) -> None:
    await agent.observe("Mira likes tea", id="tea", subject="Mira", importance=1, now=NOW)
    await agent.observe("Mira likes jam", id="jam", subject="Mira", importance=1, now=NOW)
    change = await agent.supersede("tea", text="Mira likes coffee", now=NOW + timedelta(hours=1))
    assert change.replacement is not None
    assert sorted(await found(agent, "Mira")) == sorted(["jam", change.replacement.id])
    assert await found(agent, "Mira", status="superseded") == ["tea"]
    assert len(await found(agent, "Mira", status=None)) == 3
    with pytest.raises(InvalidInput, match="status"):
        await found(agent, "Mira", status="sleepy")


async def test_page_by_page_latest_first(agent: AsyncAgent) -> None:
    await agent.observe_many(
        {"text": f"t{n}", "id": f"n{n}", "source": "Jo", "importance": 1, "occurred_at": NOW - timedelta(hours=n // 3)}
        for n in range(10)
    )
    whole = await found(agent, "Jo")
    assert whole == ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"]
    paged: list[str] = []
    while page := await found(agent, "Jo", limit=4, after=paged[-1] if paged else None):
        paged += page
    assert paged == whole
    with pytest.raises(UnknownMemory, match="'n99'"):
        await found(agent, "Jo", after="n99")


async def test_b36_nothing_of_another_agent(agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]) -> None:
    other = new_agent()
    await agent.observe("mine", id="mine", source="Jo", importance=1)
    await other.observe("theirs", id="theirs", source="Jo", importance=1)
    assert await found(agent, "Jo") == ["mine"]
    assert await found(other, "Jo") == ["theirs"]
    assert await found(agent, other.id) == []
    assert await found(agent, agent.id) == []
    assert await found(new_agent(), "Jo") == []


STRANGE = st.text(
    st.one_of(st.sampled_from('\\"*?~^:()[]{}+-&|!/ \n\tANDORT'), st.characters(codec="utf-8")), min_size=1, max_size=12
).filter(lambda name: bool(name.strip()) and "\0" not in name)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(names=st.lists(STRANGE, min_size=1, max_size=4, unique=True))
def test_any_name_finds_itself_and_nothing_else(sync_memory: Memory, names: list[str]) -> None:
    agent = sync_memory.agent(f'about "{names[0]}" \\ {uuid4().hex}')
    agent.observe_many(
        {"text": "t", "id": str(number), "importance": 1, "keywords": [name]} for number, name in enumerate(names)
    )
    for number, name in enumerate(names):
        assert [memory.id for memory in agent.about(name)] == [str(number)]
    assert agent.about(f"{names[0]}x") == () or f"{names[0]}x" in names


@pytest.mark.parametrize("name", ["x" * 512, "群" * 512, "\U0001f30a" * 256])
async def test_the_longest_names(agent: AsyncAgent, name: str) -> None:
    await agent.observe("long", id="long", subject=name, keywords=[name], importance=1)
    assert await found(agent, name) == ["long"]


# --- entities in the graph --------------------------------------------------------------------------------------


async def entities(memory: AsyncMemory, agent_id: str) -> dict[tuple[str, str], list[str]]:
    """The roles of every ABOUT, by memory and name, as somebody reads them who knows the graph only."""
    found = await memory._engine.store._driver.execute_query(
        "MATCH (m:Memory {agentId: $agent})-[about:ABOUT]->(e:Entity {agentId: $agent}) "
        "RETURN m.id AS id, e.name AS name, about.roles AS roles",
        agent=agent_id,
    )
    return {(record["id"], record["name"]): sorted(record["roles"]) for record in found.records}


async def test_one_edge_to_each_name_with_its_roles(memory: AsyncMemory, agent: AsyncAgent) -> None:
    given = {
        "subject": "Jo",
        "predicate": "sees",
        "object": "owl",
        "source": "Jo",
        "keywords": ["owl", "night", "night"],
    }
    await agent.observe_many([{"text": "t", "id": "m", "importance": 1, **given}, {"text": "u", "id": "n"}])
    expected = {
        ("m", "Jo"): ["source", "subject"],
        ("m", "owl"): ["keyword", "object"],
        ("m", "night"): ["keyword"],
    }
    assert await entities(memory, agent.id) == expected
    await agent.observe_many([{"text": "t", "id": "m", "importance": 1, **given}])
    assert await entities(memory, agent.id) == expected
    change = await agent.supersede("m", text="v")
    assert change.replacement is not None
    assert (await entities(memory, agent.id))[change.replacement.id, "Jo"] == ["subject"]


async def test_two_agents_name_one_thing_and_share_no_node(
    memory: AsyncMemory, agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]
) -> None:
    other = new_agent()
    for each in (agent, other):
        await each.observe("t", id="t", subject="Jo", importance=1)
    found = await memory._engine.store._driver.execute_query(
        "MATCH (:Memory {agentId: $a})-[:ABOUT]->(e)<-[:ABOUT]-(m) WHERE m.agentId <> $a RETURN m", a=agent.id
    )
    assert found.records == []


BREAKAGES = {
    "an edge less": "MATCH (:Memory {agentId: $a})-[r:ABOUT]->(:Entity {name: 'Jo'}) DELETE r",
    "an edge more": "MATCH (m:Memory {agentId: $a}), (e:Entity {agentId: $a, name: 'Jo'}) "
    "CREATE (m)-[:ABOUT {roles: ['object']}]->(e)",
    "another role": "MATCH (:Memory {agentId: $a})-[r:ABOUT]->(:Entity {name: 'Jo'}) SET r.roles = ['object']",
    "another name": "MATCH (m:Memory {agentId: $a}) SET m.subject = 'Joe'",
    "a lonely entity": "CREATE (:Entity {agentId: $a, name: 'nobody'})",
}  # fmt: skip


@pytest.mark.parametrize("breakage", BREAKAGES)
async def test_what_breaks_the_rule_is_found(
    memory: AsyncMemory, new_agent: Callable[[], AsyncAgent], breakage: str
) -> None:
    agent = new_agent()
    await agent.observe("t", id="t", subject="Jo", keywords=["owl"], importance=1)
    assert await agent.check() == ()
    await memory._engine.store._driver.execute_query(BREAKAGES[breakage], a=agent.id)
    found = await agent.check()
    assert {violation.rule for violation in found} == {"entities"}
    assert all(violation.remedy for violation in found)
