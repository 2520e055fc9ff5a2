"""The neomodel classes: they know all of the graph that the verbs write, walk it rightly, and write nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import graph_model
import neo4j
import pytest
from graph_model import node_classes, properties, relationships
from lake import Lake, make_lake
from neomodel import db
from pydantic import SecretStr
from test_docs import listed, section
from verbs.test_change import BAKES, HARBOUR, LAYERS, TOWN, T
from verbs.test_recompute import Thinker

from graphmem import AsyncMemory, Memory
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.errors import AuthenticationFailed, InvalidInput, StoreError, StoreUnavailable
from graphmem.graph import ogm
from graphmem.settings import Settings
from graphmem.testing import FaultyEmbedder

ROOT = Path(__file__).resolve().parents[1]
SOURCES = "\n".join(
    path.read_text("utf-8") for path in [*(ROOT / "cypher").rglob("*.cypher"), *(ROOT / "graphmem").rglob("*.py")]
    if path.name != "ogm.py"
)  # fmt: skip
UNREADABLE = "this one cannot be embedded"
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class World:
    """An agent to whom everything has happened that can."""

    agent: AsyncAgent
    ids: dict[str, str]
    """The ids of its reflections, by text."""
    lake: Lake
    """Imported."""


@pytest.fixture(scope="module")
async def world(
    memory: AsyncMemory, sync_memory: Memory, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    model = Thinker(LAYERS, lambda task: "no JSON")
    faulty = FaultyEmbedder(embedder, {UNREADABLE: RuntimeError("out of memory")})
    async with await AsyncMemory.open(settings=memory.settings, embedder=faulty, language_model=model) as own:
        agent = own.agent(f"ogm-{uuid4().hex[:8]}")
        await agent.configure(name="Ada", traits="curious", clock=T)
        await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
        heard = {"kind": "utterance", "source": "Bo", "session": "s1", "place": "quay"}
        triple = {"subject": "Bo", "predicate": "asks about", "object": "mill", "keywords": ["mill"]}
        await agent.observe_many([{"text": "Where is the mill?", "id": "heard", **heard, **triple}], now=T)
        ids: dict[str, str] = {}
        for n, (text, _) in enumerate(LAYERS, start=1):
            (reflection,) = (await agent.reflect(force=True, now=T + n * timedelta(minutes=1))).reflections
            ids[text] = reflection.id
        await agent.observe(UNREADABLE, now=T + HOUR)
        await agent.say(f"{agent.id}-bo", "You ask about the mill?", telling=["heard"], now=T + HOUR)
        await agent.ask("Who asks about the mill?", now=T + HOUR)
        await agent.supersede("o1", text="Bo carries crates at the mill", reason="seen", now=T + 2 * HOUR)
        await agent.restore("o1", now=T + 3 * HOUR)
        await agent.supersede("o1", text="Bo carries sacks at the mill", reason="seen twice", now=T + 4 * HOUR)
        await agent.retract("o3", reason="misheard", now=T + 5 * HOUR)
        assert (await agent.recompute(now=T + 6 * HOUR)).count("failed") > 0
        town = f"Town {uuid4().hex[:6]}"
        await memory.build_world({"name": town, "places": [{"path": [town, "house", "room", "bed"]}]}, now=T)
        dweller = memory.agent(agent.id)
        await dweller.settle(f"{town}:house:room", now=T)
        await memory.simulate({"name": town, "agents": [agent.id], "start": T + 7 * HOUR, "steps": 1})
        yield World(agent, ids, make_lake(sync_memory, tmp_path_factory.mktemp("save") / "lake"))


@pytest.fixture
def connected(settings: Settings) -> Iterator[None]:
    with ogm.connect(settings):
        yield


def of(world: World) -> Callable[[str], ogm.Memory]:
    return lambda id_: ogm.Memory.nodes.get(agentId=world.agent.id, uid=id_)


async def test_every_label_type_and_property_of_the_graph_is_known(world: World, settings: Settings) -> None:
    """Read without neomodel: all that belongs to the agent."""
    assert settings.password is not None
    account = (settings.user, settings.password.get_secret_value())
    with neo4j.GraphDatabase.driver(str(settings.uri), auth=account) as driver:
        found, _, _ = driver.execute_query(
            "MATCH (n) WHERE n.agentId IN $ids OR (n:Agent AND n.id IN $ids) OR n.scope IN $ids OR n:GraphmemSchema"
            " OR n:Simulation"
            " OPTIONAL MATCH (n)-[r]->(m)"
            " RETURN labels(n) AS labels, keys(n) AS keys, type(r) AS type, keys(r) AS edgeKeys, labels(m) AS ends",
            ids=[world.agent.id, world.lake.nadia.id],
        )
    models = {frozenset(model.inherited_labels()): model for model in node_classes()}
    written: set[str] = set()
    for row in found:
        model = models[frozenset(row["labels"]) - {"Stale", "Ended", "Archived"}]
        assert set(row["labels"]) - {*model.inherited_labels(), *model.inherited_optional_labels()} == set()
        assert not set(row["keys"]) - set(properties(model)), model
        written.add(model.__name__)
        if row["type"] is not None:
            known = [
                (edge, end)
                for base in model.__mro__
                for type_, end, edge in (relationships(base) if base in node_classes() else [])
                if type_ == row["type"]
            ]
            assert len(known) == 1, (model, row["type"])
            edge, end = known[0]
            assert not set(row["edgeKeys"]) - set(properties(edge)), edge
            assert end in row["ends"]
            written.add(edge.__name__)
    every = {edge.__name__ for model in node_classes() for _, _, edge in relationships(model)}
    every |= {model.__name__ for model in node_classes()} - {"Memory"}
    assert every - written == set()


def test_nothing_is_known_that_no_statement_reads_or_writes() -> None:
    models: list[type] = [*node_classes(), *(edge for model in node_classes() for _, _, edge in relationships(model))]
    for model in models:
        unused = [name for name in properties(model) if not re.search(rf"\b{name}\b", SOURCES)]
        assert unused == [], model


def test_every_label_and_property_of_the_schema_is_known() -> None:
    known = {model.__label__: set(properties(model)) for model in node_classes()}
    read = 0
    for path in (ROOT / "cypher" / "schema").glob("*.cypher"):
        statement = "\n".join(line for line in path.read_text("utf-8").splitlines() if not line.startswith("//"))
        if found := re.search(r"FOR \((\w+):(\w+)\)", statement):
            name, label = found.groups()
            indexed = set(re.findall(rf"\b{name}\.(\w+)", statement))
            subclasses = [model for model in node_classes() if label in model.inherited_labels()]
            assert indexed
            assert not indexed - {"scopeToken"} - set().union(*(properties(model) for model in subclasses)), path
            assert label in known
            read += 1
    assert read > 10


def test_the_document_lists_what_the_classes_know() -> None:
    text = graph_model.DOCUMENT.read_text("utf-8")
    told = set(re.findall(r"`(\w+)`", text))
    for model in node_classes():
        assert not set(properties(model)) - told, model
        for type_, _, edge in relationships(model):
            assert not {type_, *properties(edge)} - told, edge
    assert listed(section("docs/graph-model.md", "## Relationships")) == {
        type_ for model in node_classes() for type_, _, _ in relationships(model)
    }


def test_the_picture_in_the_document_is_current() -> None:
    assert graph_model.drawn() == graph_model.diagram(), "draw it again: python tests/graph_model.py"


@pytest.mark.usefixtures("connected")
async def test_a_walk_meets_what_explain_tells(world: World) -> None:
    top = world.ids[TOWN]
    provenance = await world.agent.explain(top)
    waiting, seen = [of(world)(top)], set[str]()
    while waiting:
        memory = waiting.pop()
        value = provenance.memories[memory.uid]
        assert type(memory).__name__.lower() == value.type
        assert (memory.text, memory.status, memory.depth) == (value.text, value.status, value.depth)
        assert (memory.occurredAt, memory.recordedAt) == (value.occurred_at, value.recorded_at)
        assert [ground.uid for ground in memory.grounds] == [g.target for g in provenance.grounds_of(memory.uid)]
        for ground in memory.grounds:
            assert memory in ground.dependents
            edges = memory.citations.all_relationships(ground)
            (told,) = (g for g in provenance.grounds_of(memory.uid) if g.target == ground.uid)
            assert (told.rank, told.support, told.since) in [(e.rank, e.support, e.since) for e in edges]
        seen.add(memory.uid)
        waiting += memory.grounds
    assert {*world.ids.values(), "o1", "o2", "o3", "o4"} == seen


@pytest.mark.usefixtures("connected")
async def test_what_happened_is_told_in_order(world: World) -> None:
    old = of(world)("o1")
    assert [change.verb for change in old.history] == ["supersede", "restore", "supersede"]
    assert [change.reason for change in old.history][::2] == ["seen", "seen twice"]
    assert [newer.text for newer in old.supersededBy.match(revokedAt__isnull=True)] == ["Bo carries sacks at the mill"]
    assert len(old.supersededBy) == 2
    assert {stale.text for stale in old.madeStale} == {LAYERS[0][0]}
    baker = of(world)(world.ids[BAKES])
    assert isinstance(baker, ogm.Reflection)
    assert baker.lastError is not None
    (run,) = baker.producedBy
    assert run.verb == "reflect"
    assert baker in run.produced
    assert {memory.uid for memory in run.used} >= {"o3", "o4"}
    assert [change.memory.single() == old for change in old.changes] == [True] * 3


@pytest.mark.usefixtures("connected")
async def test_an_agent_gives_what_it_remembers_and_nothing_of_others(world: World, memory: AsyncMemory) -> None:
    other = memory.agent(f"ogm-other-{uuid4().hex[:8]}")
    await other.observe("Bo carries crates", id="o1")
    ada = ogm.Agent.nodes.get(uid=world.agent.id)
    assert (ada.name, ada.traits) == ("Ada", "curious")
    info = await world.agent.info()
    assert len(ada.reflections.filter(held=True)) == info.reflections == len(LAYERS)
    assert {found.agentId for found in ada.memories} == {world.agent.id}
    latest = ada.reflections.order_by("-depth").first()
    assert latest.text == TOWN
    assert str(latest) == f"{latest.uid} [stale] {TOWN}"
    assert "embedding" not in repr(latest)


@pytest.mark.usefixtures("connected")
async def test_nothing_can_be_written(world: World) -> None:
    top, old = of(world)(world.ids[TOWN]), of(world)("o2")
    before = str(top)
    top.text = "something else"
    edge = top.citations.all_relationships(old)[0]
    for refused in (
        top.save,
        top.delete,
        edge.save,
        lambda: top.citations.connect(old),
        lambda: top.citations.disconnect(old),
        lambda: top.citations.disconnect_all(),
        lambda: top.citations.replace(old),
        lambda: top.citations.reconnect(old, top),
    ):
        with pytest.raises(InvalidInput, match="only read") as caught:
            refused()
        assert "supersede" in caught.value.remedy
    for refused_by_the_server in (
        lambda: ogm.Memory.nodes.bulk_create({"uid": "x", "agentId": world.agent.id}),
        lambda: ogm.Memory.nodes.bulk_save([top]),
        lambda: db.cypher_query("MATCH (n:Memory {agentId: $id}) DETACH DELETE n", {"id": world.agent.id}),
    ):
        with pytest.raises(neo4j.exceptions.ClientError, match="read access mode"):
            refused_by_the_server()
    db.begin()
    try:
        with pytest.raises(neo4j.exceptions.ClientError, match="read access mode"):
            db.cypher_query("CREATE (:Memory)")
    finally:
        db.rollback()
    top.refresh()
    assert str(top) == before
    assert await world.agent.check() == ()


@pytest.mark.usefixtures("connected")
def test_plans_places_and_entities_are_walked_as_well(world: World) -> None:
    nadia = world.lake.nadia
    plans = {plan.id: plan for plan in nadia.memories(type="plan", limit=1000)}
    steps = [ogm.Plan.nodes.get(agentId=nadia.id, uid=id_) for id_, plan in plans.items() if plan.kind == "step"]
    assert steps
    for step in steps:
        (hour,) = step.parents
        assert isinstance(hour, ogm.Plan)
        assert step in hour.reasonFor
        assert hour.start <= step.start < hour.end
    table = ogm.Place.nodes.filter(scope=nadia.id, name="workbench").first()
    assert [place.name for place in table.within] == ["workshop"]
    evening = ogm.Entity.nodes.get(agentId=nadia.id, name="lantern evening")
    assert {memory.uid for memory in evening.memories} == {
        memory.id for memory in nadia.about("lantern evening", status=None, limit=1000)
    }


def test_one_connection_at_a_time_closed_for_good(settings: Settings) -> None:
    connection = ogm.connect(settings)
    with pytest.raises(InvalidInput, match="connected already"):
        ogm.connect(settings)
    connection.close()
    connection.close()
    assert db.driver is None
    with ogm.connect(settings):
        connection.close()
        assert ogm.GraphmemSchema.nodes.get(name="graphmem").version > 0
    with pytest.raises(ValueError, match="No Neo4j connection"):
        len(ogm.Agent.nodes)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"password": SecretStr("a:wr@ng/p#ss?")}, AuthenticationFailed),
        ({"database": "elsewhere"}, StoreError),
        ({"uri": "bolt://127.0.0.1:1"}, StoreUnavailable),
    ],
)
def test_a_store_that_cannot_be_read_is_told(settings: Settings, changed: dict[str, Any], error: type) -> None:
    with pytest.raises(error) as caught:
        ogm.connect(settings.model_copy(update=changed))
    assert caught.value.remedy
    assert db.driver is None
