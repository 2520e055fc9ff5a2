"""A saved simulation in the graph: everything in it, held against a reading of the files that knows nothing of ours."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from simulations import DAY, DEPTH, LAKE, LOOKED_FORWARD, NOW, TALK, Person, first, write_person, write_simulation

from graphmem import AsyncAgent, AsyncMemory
from graphmem.errors import AgentNotEmpty, IdConflict
from graphmem.interfaces.simulation import read_simulation

Node = dict[str, Any]


@dataclass
class Save:
    """A save in its folder, imported."""

    memory: AsyncMemory
    folder: Path
    prefix: str
    people: list[Person]

    def agent(self, position: int = 0) -> AsyncAgent:
        return self.memory.agent(f"{self.prefix}{self.people[position].name}")

    async def run(self, statement: str, position: int = 0, **parameters: object) -> list[Any]:
        """What somebody reads who knows the graph only."""
        driver = self.memory._engine.store._driver
        found = await driver.execute_query(statement, agent=self.agent(position).id, **parameters)  # type: ignore[arg-type]
        return [record.values() if len(record) > 1 else record[0] for record in found.records]

    async def store(self) -> list[int]:
        """Import everybody; returns how many memories were added of each."""
        added: list[int] = []
        for person in read_simulation(self.folder, prefix=self.prefix):
            imported = await self.memory.agent(person.agent_id).import_memories(person.snapshot)
            added.append(imported.added)
        return added


@asynccontextmanager
async def imported(memory: AsyncMemory, folder: Path) -> AsyncGenerator[Save]:
    people = write_simulation(folder)
    found = Save(memory, folder, f"lake-{uuid4().hex[:8]}/", people)
    await found.store()
    yield found
    for position in range(len(people)):
        assert await found.agent(position).check() == ()


@pytest.fixture(scope="module")
async def save(memory: AsyncMemory, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Save]:
    """A save that is imported once: for looking only."""
    async with imported(memory, tmp_path_factory.mktemp("lake") / "save") as found:
        yield found


@pytest.fixture
async def own(memory: AsyncMemory, tmp_path: Path) -> AsyncIterator[Save]:
    """A save of this test's own, to change beliefs in."""
    async with imported(memory, tmp_path / "save") as found:
        yield found


# --- an independent reading -------------------------------------------------------------------------------------


def nodes_of(folder: Path, person: Person) -> dict[str, Node]:
    file = folder / "personas" / person.name / "bootstrap_memory" / "associative_memory" / "nodes.json"
    return json.loads(file.read_text("utf-8"))


def inferred(node: Node) -> bool:
    return node["type"] == "thought" and node["filling"] is not None


def grounds(nodes: dict[str, Node], node: Node) -> tuple[list[str], int]:
    """What a thought really rests on, and how much of what it names is missing."""
    filling = node["filling"]
    if node["description"] == "this is blank" or node["description"].endswith(": ...") or not isinstance(filling, list):
        return [], 1
    good = [
        item
        for item in filling
        if isinstance(item, str) and item in nodes and nodes[item]["node_count"] < node["node_count"]
    ]
    return good, len(filling) - len(good) if filling else 1


def depth(nodes: dict[str, Node], node_id: str) -> int:
    node = nodes[node_id]
    return 1 + max((depth(nodes, item) for item in grounds(nodes, node)[0]), default=0) if inferred(node) else 0


def stale(nodes: dict[str, Node], node_id: str) -> bool:
    node = nodes[node_id]
    if not inferred(node):
        return False
    good, missing = grounds(nodes, node)
    return missing > 0 or any(stale(nodes, item) for item in good)


# --- what is in the graph ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1])
async def test_every_node_and_citation_is_there(save: Save, position: int) -> None:
    nodes = nodes_of(save.folder, save.people[position])
    rows = await save.run(
        "MATCH (m:Memory {agentId: $agent}) WHERE m.id STARTS WITH 'node_' AND NOT m.id CONTAINS ':' "
        "RETURN m.id, m.text",
        position,
    )
    assert dict(rows) == {node_id: node["description"] for node_id, node in nodes.items()}
    cited = await save.run(
        "MATCH (m:Reflection {agentId: $agent})-[c:CITES]->(g) WHERE c.until IS NULL RETURN m.id, g.id, c.rank",
        position,
    )
    expected = {
        (node_id, item, rank)
        for node_id, node in nodes.items()
        if inferred(node)
        for rank, item in enumerate(grounds(nodes, node)[0], start=1)
    }
    assert len(expected) > 2
    assert sorted(map(tuple, cited)) == sorted(expected)


@pytest.mark.parametrize("position", [0, 1])
async def test_depth_and_status_follow_from_the_citations(save: Save, position: int) -> None:
    nodes = nodes_of(save.folder, save.people[position])
    rows = await save.run(
        "MATCH (m:Reflection {agentId: $agent}) RETURN m.id, m.depth, m.fileDepth, m.status, "
        "coalesce(m.missingGrounds, 0)",
        position,
    )
    assert {tuple(row) for row in rows} == {
        (
            node_id,
            depth(nodes, node_id),
            node["depth"],
            "stale" if stale(nodes, node_id) else "active",
            grounds(nodes, node)[1],
        )
        for node_id, node in nodes.items()
        if inferred(node)
    }
    if position == 0:
        assert max(row[1] for row in rows) == DEPTH
        assert sum(row[3] == "stale" for row in rows) == 10


async def test_times_ratings_and_names_are_those_of_the_file(save: Save) -> None:
    nodes = nodes_of(save.folder, save.people[0])
    rows = await save.run(
        "MATCH (m:Memory {agentId: $agent}) WHERE m.id STARTS WITH 'node_' AND NOT m.id CONTAINS ':' "
        "RETURN m {.id, .occurredAt, .recordedAt, .lastAccessedAt, .importance, .importanceBy, .subject, .predicate, "
        ".object, .keywords, .importedAt, .fileRest}"
    )
    odd = {"node_47": (10, "caller"), "node_48": (None, "rule")}
    assert len(rows) == len(nodes)
    for row in rows:
        node = nodes[row["id"]]
        created = datetime.fromisoformat(node["created"]).replace(tzinfo=UTC)
        assert row["occurredAt"] == row["recordedAt"] == row["lastAccessedAt"] == created
        assert row["importedAt"] > created
        importance, by = odd.get(row["id"], (node["poignancy"], "caller"))
        assert row["importanceBy"] == by
        assert row["importance"] == importance or importance is None
        assert [row["subject"], row["predicate"], row["object"]] == [
            node[n] for n in ("subject", "predicate", "object")
        ]
        assert row["keywords"] == list(dict.fromkeys(k for k in node["keywords"] if isinstance(k, str) and k))
        if node["expiration"]:
            assert json.loads(row["fileRest"])["expiration"] == node["expiration"]


async def test_who_it_is_and_when(save: Save) -> None:
    info = await save.agent().info()
    assert (info.name, info.clock, info.time_zone) == ("Nadia Sorel", NOW.replace(tzinfo=UTC), "UTC")
    assert (info.importance_since_reflection, info.reflection_threshold) == (37, 150)
    ((traits, rest),) = await save.run("MATCH (a:Agent {id: $agent}) RETURN a.traits, a.fileRest")
    assert "patient, curious" in traits
    assert "twenty years" in traits
    assert json.loads(rest)["living_area"] == f"{LAKE}:Boathouse:workshop"


async def test_given_thoughts_were_told_by_the_author(save: Save) -> None:
    rows = await save.run("MATCH (m:Observation {agentId: $agent, source: 'author'}) RETURN m.id, m.kind")
    assert sorted(map(tuple, rows)) == [("node_1", "fact"), ("node_2", "fact")]


async def test_a_conversation_is_kept_turn_by_turn_and_joined_with_what_the_other_remembers(save: Save) -> None:
    (chat,) = [id_ for id_, node in nodes_of(save.folder, save.people[0]).items() if node["type"] == "chat"]
    rows = await save.run(
        "MATCH (m:Observation {agentId: $agent, session: $chat}) "
        "RETURN m.kind, m.source, m.text ORDER BY m.occurredAt, m.id",
        chat=chat,
    )
    about = "conversing about the lantern evening at the boathouse"
    assert rows[:1] == [["event", None, about]]
    assert rows[1:] == [["event", None, f"Nadia Sorel is {about}"], *(["utterance", *turn] for turn in TALK)]
    await save.store()  # When the first was imported, the other was not there yet.
    joined = "MATCH (m:Memory {agentId: $agent})-[:HEARD_FROM]->(n) RETURN m.source, m.text = n.text, n.agentId"
    assert await save.run(joined) == [["Emil Brandt", True, save.agent(1).id]]
    assert await save.run(joined, 1) == [["Nadia Sorel", True, save.agent(0).id]] * 2


async def test_the_schedule_is_plans_within_plans(save: Save) -> None:
    plans = await save.run(
        "MATCH (p:Plan {agentId: $agent}) OPTIONAL MATCH (p)-[d:DERIVED_FROM]->(up) "
        "RETURN p.id, p.kind, p.text, p.state, p.start, p.end, up.id, d.until IS NOT NULL, p.place "
        "ORDER BY p.start, p.kind"
    )
    midnight = DAY.replace(tzinfo=UTC)
    day, *rest = [row for row in plans if row[1] == "day"]
    assert rest == []
    assert (day[0], day[3], day[4], day[5]) == ("node_3", "active", midnight, midnight + timedelta(days=1))
    hours = [row for row in plans if row[1] == "hour"]
    assert [(row[2], row[3], row[6]) for row in hours] == [
        ("sleeping", "done", "node_3"),
        ("preparing", "done", "node_3"),
        ("resting", "active", "node_3"),
        ("sleeping", "planned", "node_3"),
    ]
    steps = [row for row in plans if row[1] == "step"]
    assert [row[2] for row in steps][1:4] == ["preparing (cutting paper)", "preparing (gluing)", "preparing (drying)"]
    assert {row[6] for row in steps[1:4]} == {hours[1][0]}
    assert [row[7] for row in steps] == [row[3] == "done" for row in steps]  # History holds no ground any more.
    assert [row[8] for row in steps if row[3] == "active"] == [f"{LAKE}:Boathouse:workshop:workbench"]


async def test_places_are_a_tree(save: Save) -> None:
    rows = await save.run(
        "MATCH (p:Place {scope: $agent}) OPTIONAL MATCH (p)-[:IN]->(up) RETURN p.path, p.name, up.path, p.lastSeenAt"
    )
    up = {row[0]: row[2] for row in rows}
    assert up == {
        LAKE: None,
        f"{LAKE}:Boathouse": LAKE,
        f"{LAKE}:Boathouse:workshop": f"{LAKE}:Boathouse",
        f"{LAKE}:Boathouse:workshop:workbench": f"{LAKE}:Boathouse:workshop",
        f"{LAKE}:Boathouse:workshop:stove": f"{LAKE}:Boathouse:workshop",
        f"{LAKE}:Boathouse:jetty": f"{LAKE}:Boathouse",
        f"{LAKE}:Ferry": LAKE,
        f"{LAKE}:Ferry:deck": f"{LAKE}:Ferry",
        f"{LAKE}:Ferry:deck:bell": f"{LAKE}:Ferry:deck",
    }
    seen = {row[1]: row[3] for row in rows}
    assert seen["stove"] == DAY.replace(tzinfo=UTC) + timedelta(minutes=458)
    assert seen["bell"] is None


async def test_what_it_is_about_is_a_step_away(save: Save) -> None:
    found = await save.agent().about("lantern evening", status=None, limit=1000)
    nodes = nodes_of(save.folder, save.people[0])
    expected = {
        id_ for id_, node in nodes.items() if "lantern evening" in (node["object"], node["subject"], *node["keywords"])
    }
    assert {memory.id for memory in found} == expected


# --- what is done with it ---------------------------------------------------------------------------------------


async def test_what_lacks_a_ground_is_never_served(save: Save) -> None:
    agent = save.agent()
    for text in ("Nadia Sorel trusts the ferryman", "this is blank", "Nadia Sorel dislikes fog"):
        hits = await agent.retrieve(text, k=200, touch=False)
        assert all(hit.memory.status == "active" for hit in hits)
        assert text not in {hit.memory.text for hit in hits}
    found = await agent.explain("node_35")
    memory = found.memories["node_35"]
    assert memory.type == "reflection"
    assert (memory.missing_grounds, memory.status, memory.file_depth) == (2, "stale", 1)
    assert [ground.target for ground in found.grounds_of("node_35")] == ["node_21"]


async def test_recompute_works_off_what_lacks_grounds(own: Save) -> None:
    agent = own.agent()
    report = await agent.recompute()
    assert report.remaining == report.count("failed")
    blank = await agent.get("node_38")
    assert blank.status == "retracted"
    assert (await agent.history("node_38"))[0].verb == "import"


async def test_superseding_a_leaf_makes_exactly_what_rests_on_it_stale(own: Save) -> None:
    nodes = nodes_of(own.folder, own.people[0])
    leaf = "node_21"

    def rests(node_id: str) -> bool:
        good = grounds(nodes, nodes[node_id])[0] if inferred(nodes[node_id]) else []
        return leaf in good or any(rests(item) for item in good)

    before = {node_id for node_id in nodes if stale(nodes, node_id)}
    change = await own.agent().supersede(leaf, text="Nadia Sorel is cutting paper for a kite", reason="seen close by")
    assert {memory.id for memory in change.stale} == {node_id for node_id in nodes if rests(node_id)} - before
    assert len(change.stale) >= DEPTH


async def test_the_newest_counts_as_recent_by_the_clock_of_the_simulation(save: Save) -> None:
    hits = await save.agent().retrieve("What are you looking forward to?", touch=False)
    assert hits.now == NOW.replace(tzinfo=UTC)
    assert any(LOOKED_FORWARD in hit.memory.text for hit in hits)
    assert all(hit.recency.raw > 0.9 for hit in hits)


# --- again, and after a break -----------------------------------------------------------------------------------


@pytest.mark.report("B12")
async def test_again_adds_nothing(save: Save) -> None:
    count = "MATCH (m {agentId: $agent}) OPTIONAL MATCH (m)-[r]->() RETURN count(DISTINCT m), count(r)"
    await save.store()
    before = [await save.run(count, position) for position in (0, 1)]
    infos = [await save.agent(position).info() for position in (0, 1)]
    assert await save.store() == [0, 0]
    assert [await save.run(count, position) for position in (0, 1)] == before
    assert [await save.agent(position).info() for position in (0, 1)] == infos


class Cut(Exception):
    pass


def long_person(number: int) -> Person:
    person = first()
    for minute in range(number):
        person.sees(f"{LAKE}:Boathouse:workshop:lamp{minute}", "idle", after=750)
    return person


async def test_cut_off_it_goes_on_and_two_at_once_store_everything_once(
    memory: AsyncMemory, tmp_path: Path, agent_id: str
) -> None:
    write_simulation(tmp_path)
    write_person(tmp_path, long_person(600))
    _, nadia = read_simulation(tmp_path, prefix=f"{agent_id}/")
    agent = memory.agent(nadia.agent_id)

    def cut(done: int) -> None:
        if done > 200:
            raise Cut

    with pytest.raises(Cut):
        await agent.import_memories(nadia.snapshot, progress=cut)
    assert await agent.check() == ()
    half = (await agent.info()).observations
    assert half > 0
    reports = await asyncio.gather(*(agent.import_memories(nadia.snapshot) for _ in range(3)))
    assert sum(report.added for report in reports) == len(nadia.items) - 400
    info = await agent.info()
    assert info.observations + info.reflections + info.plans == len(nadia.items)
    assert info.importance_since_reflection == 37
    assert await agent.check() == ()


async def test_what_changed_in_between_is_respected(memory: AsyncMemory, tmp_path: Path, agent_id: str) -> None:
    """A thought of a later batch rests on what the caller retracted after the first."""
    write_simulation(tmp_path)
    person = long_person(200)
    person.add("thought", "Nadia Sorel will miss the evening", after=760, filling=["node_21"])
    write_person(tmp_path, person)
    _, nadia = read_simulation(tmp_path, prefix=f"{agent_id}/")
    agent = memory.agent(nadia.agent_id)

    def cut(_done: int) -> None:
        raise Cut

    with pytest.raises(Cut):
        await agent.import_memories(nadia.snapshot, progress=cut)
    await agent.retract("node_21")
    await agent.import_memories(nadia.snapshot)
    assert (await agent.get(list(person.nodes)[-1])).status == "stale"
    assert await agent.check() == ()


async def test_nothing_is_mixed_with_another_memory(memory: AsyncMemory, tmp_path: Path, agent_id: str) -> None:
    write_simulation(tmp_path / "one")
    write_simulation(tmp_path / "two", depth=3)
    emil, nadia = read_simulation(tmp_path / "one", prefix=f"{agent_id}/")
    *_, shorter = read_simulation(tmp_path / "two", prefix=f"{agent_id}/")
    await memory.agent(emil.agent_id).observe("I was here before", importance=1)
    with pytest.raises(AgentNotEmpty, match="remembers something already") as caught:
        await memory.agent(emil.agent_id).import_memories(emil.snapshot)
    assert "prefix" in caught.value.remedy
    assert (await memory.agent(emil.agent_id).info()).observations == 1
    await memory.agent(nadia.agent_id).import_memories(nadia.snapshot)
    with pytest.raises(AgentNotEmpty, match="something else"):
        await memory.agent(nadia.agent_id).import_memories(shorter.snapshot)


async def test_an_id_that_was_taken_during_a_break(memory: AsyncMemory, tmp_path: Path, agent_id: str) -> None:
    write_simulation(tmp_path)
    write_person(tmp_path, long_person(300))
    _, nadia = read_simulation(tmp_path, prefix=f"{agent_id}/")
    agent = memory.agent(nadia.agent_id)

    def cut(_done: int) -> None:
        raise Cut

    with pytest.raises(Cut):
        await agent.import_memories(nadia.snapshot, progress=cut)
    await agent.observe("mine", id="node_300", importance=1)
    with pytest.raises(IdConflict, match="node_300"):
        await agent.import_memories(nadia.snapshot)
    assert await agent.check() == ()


def test_the_kinds_of_the_generated_save() -> None:
    """What the tests above rely on: each fault is in it."""
    kinds = Counter(node["type"] for node in first().nodes.values())
    assert kinds["thought"] > 20
    assert kinds["chat"] == 1


async def test_what_is_forgotten_is_named_nowhere_any_more(own: Save) -> None:
    """The memory becomes a tombstone; what it alone named goes with it, and a whole agent leaves nothing behind."""
    agent = own.agent()
    entity = "MATCH (e:Entity {agentId: $agent, name: $name}) RETURN e.name"
    assert await own.run(entity, name="cutting") == ["cutting"]
    await agent.forget("node_21")
    assert await own.run(entity, name="cutting") == []
    assert await own.run(entity, name="lantern evening") == ["lantern evening"]
    assert await agent.check() == ()
    await own.memory.agent(own.agent(1).id).forget("node_2", terms=["bell"])
    assert await own.run(entity, 1, name="bell") == []
    await own.memory.forget_agent(agent.id)
    left = "MATCH (n) WHERE n.agentId = $agent OR n.scope = $agent OR n.id = $agent RETURN labels(n)"
    assert await own.run(left) == []


async def test_the_mean_importance_is_that_of_what_was_observed(save: Save) -> None:
    counted = "MATCH (a:Agent {id: $agent}) RETURN a.observed, a.importanceObserved, a.observedSinceReflection"
    summed = "MATCH (m:Observation {agentId: $agent}) RETURN count(m), sum(m.importance), 9"
    assert await save.run(counted) == await save.run(summed)


REAL = os.environ.get("GRAPHMEM_TEST_SIMULATION", "")


@pytest.mark.skipif(not REAL, reason="GRAPHMEM_TEST_SIMULATION names no folder of a real save")
async def test_a_real_save_is_as_an_independent_reading_has_it(memory: AsyncMemory, agent_id: str) -> None:
    folder = Path(REAL)
    people = [Person(home.name) for home in sorted((folder / "personas").iterdir())]
    real = Save(memory, folder, f"{agent_id}/", people)
    assert sum(await real.store()) > 0
    assert await real.store() == [0] * len(people)
    for position, person in enumerate(people):
        await test_every_node_and_citation_is_there(real, position)
        nodes = nodes_of(folder, person)
        rows = await real.run(
            "MATCH (m:Reflection {agentId: $agent}) RETURN m.id, m.depth, m.fileDepth, m.status", position
        )
        assert {tuple(row) for row in rows} == {
            (id_, depth(nodes, id_), node["depth"], "stale" if stale(nodes, id_) else "active")
            for id_, node in nodes.items()
            if inferred(node)
        }
        assert await real.agent(position).check() == ()
