"""Exports and imports: whole graphs compared before and after, and every way in which a file can be wrong."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from test_ogm import World
from test_ogm import world as world  # a fixture: an agent to whom everything has happened that can

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.load import BATCH
from graphmem.errors import AgentNotEmpty, ChangedMeanwhile, InvalidInput, UnknownAgent
from graphmem.models import RECALL
from graphmem.models.exports import Exported
from graphmem.settings import Settings
from tests.interfaces.conftest import environment

ROOT = Path(__file__).resolve().parents[1]
OWN_OF_IMPORT = {"loadedFrom", "loadedAt", "commits", "writtenAt"}
"""What tells of the import itself, and marks of transactions."""


def graph_of(settings: Settings, agent_id: str) -> dict[str, Any]:
    """Everything that is in the database of an agent, read with the driver alone; its own id taken out."""
    assert settings.password is not None
    account = (settings.user, settings.password.get_secret_value())

    def plain(value: Any) -> Any:
        if hasattr(value, "to_native"):
            return value.to_native().isoformat()
        return value.replace(agent_id, "THE-AGENT") if isinstance(value, str) else value

    def told(node: Any) -> str:
        kept = {name: plain(value) for name, value in node.items() if name not in OWN_OF_IMPORT}
        kept.pop("scopeToken", None)
        return json.dumps([sorted(node.labels), dict(sorted(kept.items()))])

    def known(node: Any) -> str:
        names = ("agentId", "id", "scope", "path", "seq", "ordinal", "name")
        return json.dumps([sorted(node.labels & KINDS), [plain(node.get(name)) for name in names]])

    # Steps are a simulation's, which is several agents' and is not exported.
    mine = "(n.agentId = $id OR n.scope = $id OR (n:Agent AND n.id = $id)) AND NOT n:Step"
    with neo4j.GraphDatabase.driver(str(settings.uri), auth=account) as driver:
        nodes, _, _ = driver.execute_query(f"MATCH (n) WHERE {mine} RETURN n", id=agent_id)
        edges, _, _ = driver.execute_query(f"MATCH (n)-[r]->(m) WHERE {mine} RETURN n, r, m", id=agent_id)
    return {
        "nodes": sorted(told(row["n"]) for row in nodes),
        "edges": sorted(
            json.dumps([row["r"].type, known(row["n"]), known(row["m"]), {k: plain(v) for k, v in row["r"].items()}])
            for row in edges
        ),
    }


KINDS = {"Agent", "Memory", "Run", "Change", "Place", "Entity"}


async def ranking(agent: AsyncAgent) -> list[tuple[str, object]]:
    """Of the blend without the last digits: rarity of words is that of the whole index, also of what was deleted."""
    hits = await agent.retrieve("crates at the mill", k=10, touch=False, now="2030-01-01T00:00:00Z")
    blend = await agent.retrieve("Where is the mill?", k=10, profile=RECALL, touch=False, now="2030-01-01T00:00:00Z")
    exact: list[tuple[str, object]] = [(hit.memory.id, round(hit.score, 9)) for hit in hits]
    return exact + [(hit.memory.id, pytest.approx(hit.score, abs=0.005)) for hit in blend]


Edit = Callable[[list[dict[str, Any]]], None]


def edited(file: Path, edit: Edit) -> Path:
    """The export with something changed."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    edit(lines)
    other = file.with_name(f"edited-{uuid4().hex[:6]}.jsonl")
    other.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return other


# --- the round trip ---------------------------------------------------------------------------------------------


async def test_the_same_graph_comes_back(
    memory: AsyncMemory,
    settings: Settings,
    world: World,
    tmp_path: Path,
) -> None:
    """Ids, labels, properties, vectors, relationships, ranking: forgotten from the store in between."""
    ids = [world.agent.id, world.lake.nadia.id]
    file = tmp_path / "two.jsonl"
    before = {id_: graph_of(settings, id_) for id_ in ids}
    ranked = await ranking(memory.agent(ids[0]))
    report = await memory.export_graph(file, agents=ids)
    assert (report.agents, report.lines) == (tuple(ids), len(file.read_bytes().splitlines()))
    assert min(report.memories, report.runs, report.changes, report.places, report.relationships) > 0
    assert file.stat().st_mode & 0o077 == 0
    for id_ in ids:
        await memory.forget_agent(id_)
    back = await memory.import_graph(file)
    assert (back.agents, back.known, back.violations, back.not_embedded) == (tuple(ids), (), 0, 1)
    counted = ("memories", "runs", "changes", "places", "relationships")
    assert [getattr(back, name) + (back.not_joined if name == "relationships" else 0) for name in counted] == [
        getattr(report, name) for name in counted
    ]
    for id_ in ids:
        after = graph_of(settings, id_)
        assert after["nodes"] == before[id_]["nodes"]
        assert after["edges"] == before[id_]["edges"]
    assert await ranking(memory.agent(ids[0])) == ranked
    again = tmp_path / "again.jsonl"
    await memory.export_graph(again, agents=ids)
    dated = [json.loads(line) for line in again.read_text("utf-8").splitlines()]
    assert len(dated) == report.lines


async def test_what_was_put_away_comes_back_put_away(
    memory: AsyncMemory, agent: AsyncAgent, settings: Settings, tmp_path: Path
) -> None:
    """Archived as before, out of retrieval, and to be taken out again."""
    old = {"occurred_at": "2024-05-01T08:00:00Z", "importance": 2}
    await agent.observe_many(
        [{"text": f"A gull sat on the mill, {n}", "id": f"g{n}", **old} for n in range(3)], now="2024-05-01T08:00:00Z"
    )
    await agent.observe("A gull stole the crates at the mill", id="kept", importance=9)
    put_away = (await agent.archive(older_than="90d", importance_below=3)).ids
    assert set(put_away) == {"g0", "g1", "g2"}
    await agent.unarchive(["g2"])
    before, ranked = graph_of(settings, agent.id), await ranking(agent)
    file = tmp_path / "archived.jsonl"
    assert (await memory.export_graph(file, agents=[agent.id])).memories == 4
    await memory.forget_agent(agent.id)
    assert (await memory.import_graph(file)).violations == 0
    assert graph_of(settings, agent.id) == before
    assert await ranking(agent) == ranked
    assert {found.id for found in await agent.memories(status="archived")} == {"g0", "g1"}
    assert (await agent.unarchive()).ids == ("g0", "g1")
    assert {hit.memory.id for hit in await agent.retrieve("a gull on the mill", touch=False)} == {
        *("g0", "g1", "g2", "kept")
    }


# --- all that can be wrong with a file --------------------------------------------------------------------------


@pytest.fixture
async def small(memory: AsyncMemory, agent: AsyncAgent, tmp_path: Path) -> Path:
    """An agent with a belief that was corrected, and its export."""
    await agent.observe_many(
        [{"text": f"Klara paints the mural, part {n}", "id": f"p{n}", "importance": 5} for n in range(6)]
    )
    await agent.reflect(force=True)
    await agent.supersede("p3", text="Klara paints the boat", reason="seen")
    file = tmp_path / "small.jsonl"
    await memory.export_graph(file, agents=[agent.id])
    return file


def node(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["type"] == kind)


def set_property(kind: str, name: str, value: object) -> Edit:
    return lambda lines: node(lines, kind)["properties"].__setitem__(name, value)


def set_field(kind: str, name: str, value: object) -> Edit:
    return lambda lines: node(lines, kind).__setitem__(name, value)


WRONG: dict[str, tuple[Edit, str]] = {
    "a newer version": (set_field("head", "version", 2), "version 2 of the format; this graphmem reads 1"),
    "another format": (set_field("head", "format", "something"), "not an export of graphmem"),
    "no end": (lambda lines: lines.pop() and None, "cut short"),
    "a line that is missing": (lambda lines: lines.pop(-2) and None, "lines, this one included"),
    "something behind the end": (lambda lines: lines.append({"type": "memory"}), "stands behind the end"),
    "an unknown kind of line": (set_field("memory", "type", "dream"), "of the type 'dream'"),
    "an id twice": (
        lambda lines: lines.insert(3, dict(node(lines, "memory"))),
        "line 4: the memory .* stands there twice",
    ),
    "an agent twice": (lambda lines: lines.insert(2, dict(lines[1])), "line 3: the agent .* twice"),
    "a memory without an agent": (lambda lines: lines.pop(1) and None, "before the first agent"),
    "an importance that is none": (set_property("memory", "importance", "high"), "line 3: .*importance"),
    "a status that is none": (set_property("memory", "status", "perhaps"), "line 3: .*status"),
    "no text": (
        lambda lines: node(lines, "memory")["properties"].pop("text") and None,
        "line 3: the memory .*text",
    ),
    "a time that is none": (
        lambda lines: node(lines, "memory")["times"].__setitem__("occurredAt", "yesterday"),
        "line 3: occurredAt",
    ),
    "a label that is none": (set_field("memory", "labels", ["Observation", "Agent"]), "cannot have the labels"),
    "no type": (set_field("memory", "labels", []), "cannot have the labels"),
    "a vector that is none": (set_field("memory", "vector", "%%%"), "line 3: vector"),
    "a vector of another length": (set_field("memory", "vector", "AACAPw=="), "line 3: the vector is not one of"),
    "a name that cannot be one": (set_property("memory", "drop all", 1), "'drop all' is no name of a property"),
    "what cannot be stored": (set_property("memory", "text", "a\x00b"), "U\\+0000"),
    "a map": (set_property("memory", "keywords", [{"a": 1}]), "keywords is neither"),
    "an end that is not there": (set_field("relationship", "to", ["memory", "nobody"]), "no memory 'nobody' before it"),
    "ends that do not join": (set_field("relationship", "from", ["agent", "x"]), "cannot be joined"),
    "a type that is none": (set_field("relationship", "name", "x]->() DETACH DELETE n"), "no type of a relationship"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_damaged_file_is_refused_and_nothing_is_written(
    memory: AsyncMemory, small: Path, agent: AsyncAgent, name: str
) -> None:
    edit, words = WRONG[name]
    with pytest.raises(InvalidInput, match=words) as refused:
        await memory.import_graph(edited(small, edit), prefix="copy-")
    assert refused.value.remedy
    with pytest.raises(UnknownAgent):
        await memory.agent(f"copy-{agent.id}").info()


def damage_file(file: Path, damage: Callable[[bytes], bytes]) -> None:
    file.write_bytes(damage(file.read_bytes()))


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda raw: b"", "is empty"),
        (lambda raw: raw[:-20], "line .*: is not JSON|cut short"),
        (lambda raw: raw.replace(b"Klara", b"Kl\xffra", 1), "line 3: is not UTF-8"),
        (lambda raw: b"PK\x03\x04", "not an export of graphmem"),
        (lambda raw: raw + b"{}\n", "behind the end"),
    ],
)
async def test_bytes_that_are_damaged(
    memory: AsyncMemory, small: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    damage_file(small, damage)
    with pytest.raises(InvalidInput, match=words):
        await memory.import_graph(small, prefix="copy-")


async def test_an_agent_that_remembers_something_else_is_refused_by_name(
    memory: AsyncMemory, small: Path, agent: AsyncAgent
) -> None:
    with pytest.raises(AgentNotEmpty, match=agent.id):
        await memory.import_graph(small)
    back = await memory.import_graph(small, prefix="copy-")
    assert (back.agents, back.violations) == ((f"copy-{agent.id}",), 0)
    again = await memory.import_graph(small, prefix="copy-")
    assert (again.known, again.memories, again.relationships) == (back.agents, 0, 0)
    copy = memory.agent(f"copy-{agent.id}")
    assert [hit.memory.id for hit in await copy.retrieve("the boat", k=3)] == [
        hit.memory.id for hit in await agent.retrieve("the boat", k=3)
    ]


async def test_what_breaks_a_rule_in_the_file_is_told(memory: AsyncMemory, small: Path) -> None:
    """A belief that someone made active by hand in the file, though what it rests on has ended."""

    def lie(lines: list[dict[str, Any]]) -> None:
        stale = next(line for line in lines if line.get("properties", {}).get("status") == "stale")
        stale["properties"]["status"] = "active"

    assert (await memory.import_graph(edited(small, lie), prefix="lie-")).violations > 0


async def test_a_store_of_another_model_makes_its_own_vectors(memory: AsyncMemory, small: Path, tmp_path: Path) -> None:
    def other(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["type"] == "memory":
                line["properties"]["embeddingModel"] = "another"

    back = await memory.import_graph(edited(small, other), prefix="other-")
    assert back.not_embedded == back.memories > 0
    copy = memory.agent(back.agents[0])
    assert (await copy.info()).not_embedded > 0
    report = await memory.work_once(agent=copy.id)
    assert report.embedded > 0
    assert (await copy.info()).not_embedded == 0
    bare = tmp_path / "bare.jsonl"
    await memory.export_graph(bare, agents=[copy.id], vectors=False)
    assert "vector" not in node([json.loads(line) for line in bare.read_text("utf-8").splitlines()], "memory")


async def test_exports_of_what_is_not_there_or_where_something_is(
    memory: AsyncMemory, small: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="there already"):
        await memory.export_graph(small)
    with pytest.raises(UnknownAgent):
        await memory.export_graph(tmp_path / "nobody.jsonl", agents=["nobody"])
    with pytest.raises(InvalidInput, match="cannot be written"):
        await memory.export_graph(tmp_path / "none" / "x.jsonl", agents=["nobody"])
    assert names_in(tmp_path) == [small.name]


async def test_of_two_exports_to_one_file_one_is_whole_and_the_other_refused(
    memory: AsyncMemory, agent: AsyncAgent, new_agent: Callable[[], AsyncAgent], tmp_path: Path
) -> None:
    file, other = tmp_path / "same.jsonl", new_agent()
    await agent.observe_many([f"a thing of mine {n}" for n in range(300)])
    await other.observe_many([f"what is somebody else's {n}" for n in range(100)])
    both = await asyncio.gather(
        *(memory.export_graph(file, agents=[one.id]) for one in (agent, other)), return_exceptions=True
    )
    refused = [found for found in both if isinstance(found, BaseException)]
    assert [type(error) for error in refused] == [InvalidInput]
    assert "is there already" in str(refused[0])
    report = next(found for found in both if isinstance(found, Exported))
    assert (await memory.import_graph(file, prefix="same-")).memories == report.memories
    assert names_in(tmp_path) == [file.name]


async def test_an_export_touches_no_other_file(memory: AsyncMemory, agent: AsyncAgent, tmp_path: Path) -> None:
    """Not what is called as its parts might be, not what comes while it is written, not what a link leads to."""
    await agent.observe("The ferry is late")
    precious, part = tmp_path / "precious", tmp_path / "x.jsonl.part"
    precious.write_text("precious")
    part.symlink_to(precious)
    await memory.export_graph(tmp_path / "x.jsonl", agents=[agent.id])
    assert (part.is_symlink(), precious.read_text()) == (True, "precious")
    late, dangling = tmp_path / "late.jsonl", tmp_path / "dangling.jsonl"
    with pytest.raises(InvalidInput, match="is there already"):
        await memory.export_graph(late, agents=[agent.id], progress=lambda _: late.write_text("precious") and None)
    assert late.read_text() == "precious"
    dangling.symlink_to(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="is there already"):
        await memory.export_graph(dangling, agents=[agent.id])
    assert sorted(names_in(tmp_path)) == ["dangling.jsonl", "late.jsonl", "precious", "x.jsonl", "x.jsonl.part"]


async def test_an_agent_is_exported_as_it_was_at_one_moment(
    memory: AsyncMemory, agent: AsyncAgent, tmp_path: Path
) -> None:
    """Somebody observes while it is read: it is read again, and given up where that does not end."""
    await agent.observe_many([f"thing {n}" for n in range(600)])
    told: list[int] = []

    def disturb(times: int) -> Callable[[int], None]:
        def progress(done: int) -> None:
            told.append(done)
            if len(told) <= times:
                write(memory.settings, agent.id)

        return progress

    file = tmp_path / "moment.jsonl"
    report = await memory.export_graph(file, agents=[agent.id], progress=disturb(1))
    assert report.lines == len(file.read_bytes().splitlines())
    assert len(told) > 2
    told.clear()
    with pytest.raises(ChangedMeanwhile, match="written to"):
        await memory.export_graph(tmp_path / "never.jsonl", agents=[agent.id], progress=disturb(1000))
    assert not (tmp_path / "never.jsonl").exists()


def write(settings: Settings, agent_id: str) -> None:
    """What every transaction that writes does first."""
    assert settings.password is not None
    account = (settings.user, settings.password.get_secret_value())
    with neo4j.GraphDatabase.driver(str(settings.uri), auth=account) as driver:
        driver.execute_query(
            "MATCH (agent:Agent {id: $id}) SET agent.commits = [$mark] + agent.commits",
            id=agent_id,
            mark=uuid4().int >> 66,
        )


async def test_what_one_heard_from_the_other_is_joined_again(
    memory: AsyncMemory, agent: AsyncAgent, new_agent: Callable[[], AsyncAgent], tmp_path: Path
) -> None:
    listener = new_agent()
    told = await agent.observe(f"The ferry {agent.id} is late", importance=4)
    heard = await agent.share(told.id, with_=listener.id)
    both, alone = tmp_path / "both.jsonl", tmp_path / "alone.jsonl"
    await memory.export_graph(both, agents=[listener.id, agent.id])
    await memory.export_graph(alone, agents=[listener.id])
    report = await memory.import_graph(both, prefix="b-")
    assert report.not_joined == 0
    copies = await memory.agent(f"b-{agent.id}").forget(told.id, dry_run=True)
    assert [(copy.agent_id, copy.id) for copy in copies.copies if copy.agent_id.startswith("b-")] == [
        (f"b-{listener.id}", heard.id)
    ]
    await memory.forget_agent(agent.id)
    assert (await memory.import_graph(alone, prefix="a-")).not_joined == 1


# --- cut off ----------------------------------------------------------------------------------------------------


class Cut(Exception):
    """Whatever ends an import from outside."""


async def test_an_import_goes_on_from_wherever_it_was_cut_off(
    memory: AsyncMemory, settings: Settings, agent: AsyncAgent, tmp_path: Path
) -> None:
    """After the second batch, before that, after the third: also what was cut off while it went on goes on."""
    await agent.configure(name="Ana")
    await agent.observe_many([{"text": f"note {n % 50}", "id": f"n{n:05}", "importance": 3} for n in range(2 * BATCH)])
    await agent.supersede("n00001", text="another note")
    file = tmp_path / "batches.jsonl"
    report = await memory.export_graph(file, agents=[agent.id])
    assert report.lines > 2 * BATCH

    def cut_at(line: int) -> Callable[[int], None]:
        def progress(done: int) -> None:
            if done >= line:
                raise Cut

        return progress

    for line in (2 * BATCH, BATCH, report.lines - 1):
        with pytest.raises(Cut):
            await memory.import_graph(file, prefix="c-", progress=cut_at(line))
    copy = memory.agent(f"c-{agent.id}")
    assert (await memory.import_graph(file, prefix="c-")).violations == 0
    assert graph_of(settings, copy.id) == graph_of(settings, agent.id)


IMPORT = """
import sys, time
from graphmem import Memory
from graphmem.settings import load_settings
from tests.conftest import QuickEmbedder

def slowly(line):
    print(line, flush=True)
    time.sleep(0.05)

with Memory.open(embedder=QuickEmbedder()) as memory:
    from pathlib import Path
    memory.import_graph(Path(sys.argv[1]), prefix=sys.argv[2], progress=slowly)
"""


def killed_after_a_line(command: list[str], env: Mapping[str, str]) -> None:
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.kill()


@pytest.mark.faults
async def test_a_killed_import_goes_on(
    memory: AsyncMemory, settings: Settings, agent: AsyncAgent, tmp_path: Path
) -> None:
    await agent.configure(name="Ana")
    await agent.observe_many([{"text": f"note {n % 50}", "id": f"n{n:05}", "importance": 3} for n in range(2500)])
    await agent.supersede("n00001", text="another note")
    file = tmp_path / "many.jsonl"
    report = await memory.export_graph(file, agents=[agent.id])
    env = {**os.environ, **environment(settings), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    command = [sys.executable, "-c", textwrap.dedent(IMPORT), str(file), "k-"]
    killed_after_a_line(command, env)
    copy = memory.agent(f"k-{agent.id}")
    part = (await copy.info()).observations
    assert 0 < part < 2500
    back = await memory.import_graph(file, prefix="k-")
    assert 0 < back.memories < report.memories
    assert (await copy.info()).observations == 2500
    assert await copy.check() == ()
    before, after = graph_of(settings, agent.id), graph_of(settings, copy.id)
    assert after["nodes"] == before["nodes"]
    assert after["edges"] == before["edges"]
