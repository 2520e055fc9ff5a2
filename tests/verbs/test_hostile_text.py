"""Hostile texts through every verb: stored and given back as they are, or refused by name; and never part of Cypher."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hostile import EXAMPLES, TEXTS, can_be_kept, told
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from proxy import proxying, statements
from pydantic import ValidationError

from graphmem import AsyncMemory, Memory
from graphmem.agent import Agent
from graphmem.embedding.base import Embedder
from graphmem.errors import GraphmemError, InvalidInput, InvalidText
from graphmem.graph.queries import queries
from graphmem.models import RECALL
from graphmem.models.imports import AgentImport
from graphmem.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
hostile = hypothesis_settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def nodes(memory: Memory) -> int:
    """All nodes of the database."""
    store = memory._memory._engine.store

    async def count() -> int:
        records, _, _ = await store._driver.execute_query("MATCH (n) RETURN count(n) AS n", database_=store.database)
        return records[0]["n"]

    return memory._portal.call(count)


def entities(memory: Memory, agent: Agent) -> set[str]:
    store = memory._memory._engine.store

    async def names() -> set[str]:
        records, _, _ = await store._driver.execute_query(
            "MATCH (e:Entity {agentId: $a}) RETURN e.name AS name", a=agent.id, database_=store.database
        )
        return {record["name"] for record in records}

    return memory._portal.call(names)


@hostile
@given(text=TEXTS, name=TEXTS, other=TEXTS)
@example(text="x}) DETACH DELETE n //", name="o'brien`", other='*:* OR "')
@example(text="a lone \ud83e surrogate", name="n", other="o")
@example(text="t", name="a\0b", other="o")
def test_b21_whatever_is_given_comes_back_or_is_refused_and_nothing_else_changes(
    sync_memory: Memory, text: str, name: str, other: str
) -> None:
    before = nodes(sync_memory)
    good = all(map(can_be_kept, (text, name, other)))
    try:
        agent = sync_memory.agent(f"{name}{uuid4().hex}")
        stored = agent.observe(
            text, id=name, source=other, session=name, place=other, subject=name, predicate=other, object=text,
            keywords=[other], importance=3,
        )  # fmt: skip
    except InvalidInput as refused:
        assert not good
        told(refused)
        assert nodes(sync_memory) == before
        return
    assert good
    assert (stored.text, stored.id, stored.source, stored.session, stored.place) == (text, name, other, name, other)
    assert (stored.subject, stored.predicate, stored.object, stored.keywords) == (name, other, text, (other,))
    assert agent.get(name) == stored
    assert agent.resolve(name) == name
    for profile in (None, RECALL):
        hits = agent.retrieve(text, touch=False, **({"profile": profile} if profile else {}))
        assert [hit.memory.id for hit in hits] == [name]
    assert [memory.id for memory in agent.about(other)] == [name]
    assert [memory.id for memory in agent.memories(limit=5)] == [name]
    agent.observe(other, id=f"k{uuid4().hex}", key=name, importance=1)
    report = agent.supersede(name, text=f"{other} {text}", reason=other)
    assert report.replacement is not None
    assert report.replacement.text == f"{other} {text}"
    assert [entry.reason for entry in agent.log() if entry.verb == "supersede"] == [other]
    assert agent.explain(report.replacement.id)
    assert agent.history(name)[0]
    named = entities(sync_memory, agent)
    assert named <= {text, name, other}
    assert nodes(sync_memory) == before + 1 + 3 + len(named) + len(agent.log())
    assert agent.check() == ()


@hostile
@given(text=TEXTS, name=TEXTS)
@example(text="t", name="\ud83e")
@example(text="\0", name="n")
def test_whatever_an_import_or_a_setting_of_an_agent_holds(sync_memory: Memory, text: str, name: str) -> None:
    agent = sync_memory.agent(f"imported-{uuid4().hex}")
    before = nodes(sync_memory)
    good = can_be_kept(text) and can_be_kept(name)
    given_ = {"origin": uuid4().hex, "file_rest": text, "config": {"name": name, "traits": text}, "memories": []}
    calls = [
        lambda: agent.import_memories(AgentImport.model_validate(given_)),
        lambda: agent.configure(name=name, traits=text),
        lambda: agent.feedback(name, useful=True, reason=text),
        lambda: agent.forget(name, terms=[text]),
        lambda: agent.about(name),
        lambda: agent.explain(name),
        lambda: agent.run(name),
        lambda: agent.retrieve(text, source=name, place=name),
    ]
    for call in calls:
        try:
            call()
        except (GraphmemError, ValidationError) as refused:
            told(refused)
    assert nodes(sync_memory) <= before + 1
    if good:
        assert agent.info().name == name


@pytest.mark.parametrize("size", [100_001, 1_000_000])
def test_a_megabyte_is_refused_by_its_length(sync_memory: Memory, size: int) -> None:
    agent = sync_memory.agent(f"large-{uuid4().hex}")
    large = "lamp " * (size // 5) + "x"
    for call in (
        lambda: agent.observe(large),
        lambda: agent.observe_many([{"text": "small"}, {"text": large}]),
        lambda: agent.observe_messages([{"role": "user", "content": large}]),
        lambda: agent.retrieve(large),
        lambda: agent.observe("small", id=large),
        lambda: agent.observe("small", key=large),
        lambda: agent.observe("small", source=large),
        lambda: agent.observe("small", keywords=[large]),
        lambda: agent.forget("x", terms=[large]),
        lambda: agent.retract("x", reason=large),
        lambda: sync_memory.agent(large),
    ):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert len(str(caught.value)) < 2_000
    with pytest.raises(InvalidText, match=r"100[,_]?000"):
        agent.observe(large)
    assert agent.memories() == ()
    kept = agent.observe(large[:100_000], importance=1)
    assert agent.get(kept.id).text == large[:100_000]


async def test_all_that_is_sent_to_the_server_are_the_files_of_cypher(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    """Read off the wire: every statement of every verb is one of the files, to the letter."""
    evil = "x'\"`}) DETACH DELETE n //"
    with proxying(str(settings.uri)) as proxy:
        proxy.said = []
        through = settings.model_copy(update={"uri": f"bolt://127.0.0.1:{proxy.port}"})
        async with await AsyncMemory.open(settings=through, embedder=embedder) as memory:
            agent = memory.agent(f"{evil}{agent_id}")
            await agent.observe_many(
                [{"text": f"Bo {evil} the boat, {n}", "id": f"{evil}{n}", "importance": 4} for n in range(6)]
            )
            await agent.observe(evil, key=evil, source=evil, place=evil, keywords=[evil], importance=2)
            for profile in ({}, {"profile": RECALL}, {"source": evil}, {"place": evil}, {"since": 0}):
                await agent.retrieve(evil, **profile)
            await agent.reflect(force=True)
            await agent.supersede(f"{evil}1", text=evil, reason=evil)
            await agent.recompute()
            await agent.retract(f"{evil}2", reason=evil)
            await agent.restore(f"{evil}2", reason=evil)
            await agent.feedback(f"{evil}3", useful=True, reason=evil)
            await agent.share(f"{evil}3", with_=f"{evil}{agent_id}2")
            await agent.forget(f"{evil}4", terms=["quokka'\"`}) //"])
            await agent.about(evil)
            await agent.explain(f"{evil}3")
            await agent.history(f"{evil}3")
            await agent.timeline()
            await memory.work_once(agent=agent.id)
            await memory.agents()
            await memory.forget_agent(agent.id)
    sent = {text for said in proxy.said for text in statements(bytes(said))}
    files = {query.text for query in queries.values()}
    assert len(sent) > 50
    assert sent - files == set()


def calls_of(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


@pytest.mark.parametrize("module", sorted((ROOT / "graphmem" / "graph").glob("*.py")), ids=lambda path: path.name)
def test_no_module_hands_a_text_of_its_own_to_the_driver(module: Path) -> None:
    """The first argument of every ``run`` and ``execute_query`` is a query's own text, or EXPLAIN and that."""
    source = module.read_text("utf-8")
    if "import neo4j" not in source and "neomodel" not in source:
        return
    tree = ast.parse(source)
    handed = [
        ast.unparse(call.args[0]) for name in ("run", "execute_query") for call in calls_of(tree, name) if call.args
    ]
    allowed = {"query.text", "statement", "name", "queries['store/schema'].text", "_serve(ready)", "_MADE_FOR"}
    assert set(handed) <= allowed | {text for text in handed if text.startswith("queries[")}
    if "_MADE_FOR" in handed:
        assert '_MADE_FOR = "store/schema"' in source  # A name, to the transaction of ours that looks it up.
    if "statement" in handed:
        assert 'statement: LiteralString = "EXPLAIN " + query.text' in source
