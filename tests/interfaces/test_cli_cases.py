"""The cases of public reports as a person at the command line meets them: B11, B36, B40, B42, and their kind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.agent import Agent
from graphmem.models import Hits
from graphmem.settings import Settings
from tests.interfaces.conftest import RunCli, environment, jsonl

T = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
# --- what is kept between processes (B11) -------------------------------------------------------------------------


def test_b11_another_process_retrieves_the_same(
    cli: RunCli, settings: Settings, sync_memory: Memory, agent_id: str
) -> None:
    """Order, scores, times of access and the sum towards the next reflection are all in the store."""
    texts = [
        "the mill",
        "the mill wheel",
        "the wheel",
        "a boat",
        "the boat wheel",
        "bread",
        "rain",
        "a mill",
        "wind",
        "x",
    ]
    items = [
        {"id": f"m{n}", "text": text, "importance": 1 + n % 7, "occurred_at": (T - timedelta(hours=n)).isoformat()}
        for n, text in enumerate(texts)
    ]
    assert cli("ingest", "-", "--agent", agent_id, stdin=jsonl(*items).encode()).code == 0
    agent = sync_memory.agent(agent_id)
    agent.configure(clock=T + timedelta(hours=2))
    found = cli("retrieve", "the mill wheel", "--agent", agent_id, "--k", "3", "--json").json["hits"]
    touched = {hit["memory"]["id"] for hit in found}
    stored = {memory.id: memory for memory in agent.memories()}
    assert {id_ for id_, memory in stored.items() if memory.last_accessed_at == T + timedelta(hours=2)} == touched

    arguments = ["retrieve", "the mill wheel", "--agent", agent_id, "--no-touch", "--json"]
    here = cli(*arguments).json
    env = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    command = [sys.executable, "-m", "graphmem", *arguments]
    done = subprocess.run(command, env={**env, **environment(settings)}, capture_output=True, check=True)
    there = json.loads(done.stdout)
    assert there == here
    # The property that ranking reads is the one that the access wrote: what was touched is the freshest.
    hits = Hits.model_validate({name: there[name] for name in Hits.model_fields})
    assert {hit.memory.id for hit in hits if hit.recency.raw == 1.0} == touched
    assert agent.info().importance_since_reflection == sum(item["importance"] for item in items)  # pyright: ignore[reportArgumentType]


VERBS = [
    ["explain"],
    ["tree"],
    ["history"],
    ["retract"],
    ["undo"],
    ["supersede", "--text", "x"],
    ["supersede", "--by", "deadbeef-22"],
]

# --- ids (B42) ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_b42_an_ambiguous_id_is_refused_with_the_candidates(cli: RunCli, alike: str, verb: list[str]) -> None:
    name, *options = verb
    result = cli(name, "deadbeef", "--agent", alike, *options)
    assert (result.code, result.out) == (1, "")
    assert "deadbeef-1" in result.err
    assert "deadbeef-2" in result.err
    active = cli("memories", "--agent", alike, "--status", "active", "--json").json["memories"]
    assert len(active) == 3


@pytest.mark.parametrize("id_", ["", " ", "feedbeef", "deadbeef-1x", "DEADBEEF-1"])
@pytest.mark.parametrize("verb", VERBS)
def test_b42_an_empty_or_unknown_id_is_refused(cli: RunCli, alike: str, verb: list[str], id_: str) -> None:
    name, *options = verb
    result = cli(name, id_, "--agent", alike, *options)
    assert (result.code, result.out) == (1, "")
    assert result.complaints.startswith("error: ")
    active = cli("memories", "--agent", alike, "--status", "active", "--json").json["memories"]
    assert len(active) == 3


def test_b42_a_full_id_is_exact_even_where_it_begins_another(cli: RunCli, alike: str) -> None:
    assert cli("retract", "deadbeef-2", "--agent", alike).code == 0
    ended = cli("memories", "--agent", alike, "--status", "retracted", "--json").json["memories"]
    assert [memory["id"] for memory in ended] == ["deadbeef-2"]
    assert cli("explain", "deadbeef-22", "--agent", alike).out.startswith("id          deadbeef-22")
    assert cli("retract", "deadbeef-2", "--agent", alike).code == 1


def test_b42_the_replacement_and_the_place_in_a_list_are_no_less_exact(cli: RunCli, alike: str) -> None:
    for arguments in (
        ["supersede", "deadbeef-1", "--by", "deadbeef"],
        ["supersede", "deadbeef-1", "--by", ""],
        ["supersede", "deadbeef-1", "--by", "feedbeef"],
        ["memories", "--after", "deadbeef"],
        ["about", "number", "--after", "deadbeef"],
        ["about", "number", "--after", "feedbeef"],
        ["run", "deadbeef-1"],
        ["run", ""],
        ["about", ""],
        ["observe", "text", "--id", ""],
        ["observe", "other text", "--id", "deadbeef-1"],
    ):
        result = cli(*arguments, "--agent", alike)
        # A value that no memory could have is wrong usage.
        code = 2 if arguments == ["observe", "text", "--id", ""] else 1
        assert (result.code, result.out) == (code, ""), arguments
        assert result.complaints.startswith("error: ")
    active = cli("memories", "--agent", alike, "--status", "active", "--json").json["memories"]
    assert [memory["text"] for memory in active] == ["number 1", "number 2", "number 22"]
    assert cli("observe", "a beginning of others", "--id", "deadbeef", "--agent", alike).code == 0
    assert cli("explain", "deadbeef", "--agent", alike).out.startswith("id          deadbeef\n")


# --- agents and databases (B36, B40) ------------------------------------------------------------------------------


READING = [
    ["retrieve", "the word is narwhal"],
    ["tree"],
    ["memories"],
    ["tree", "narwhal-id"],
    ["explain", "narwhal-id"],
    ["explain", "narwhal"],
    ["memories", "--after", "narwhal-id"],
    ["about", "narwhal"],
    ["about", "narwhal", "--all"],
    ["about", "the word"],
    ["about", "the word", "--after", "narwhal-id"],
    ["history", "narwhal-id"],
    ["timeline"],
    ["review"],
    ["ask", "What is the word?"],
    ["ask", "the word is narwhal"],
    ["plan"],
    ["usage"],
    ["runs"],
    ["run", "narwhal-id"],
    ["doctor"],
]


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_b36_no_command_shows_another_agents_memories(cli: RunCli, kits: tuple[str, str], arguments: list[str]) -> None:
    kit, kit2 = kits
    for agent in (kit, "*", kit.upper(), f"{kit} "):
        result = cli(*arguments, "--agent", agent, "--json")
        memory_ids = set(re.findall(r'"id": "(\S+-id)"', result.out))
        assert memory_ids <= {"quokka-id"} if agent == kit else not memory_ids
        assert kit2 not in result.out
        assert result.code == 0 or re.match("error: (agent|there is no agent) ", result.complaints)
    plain = cli(*arguments, "--agent", kit)
    assert "the word is narwhal" not in plain.out


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
@pytest.mark.parametrize("agent", ["", " "])
def test_b36_no_agent_is_refused(cli: RunCli, arguments: list[str], agent: str) -> None:
    result = cli(*arguments, "--agent", agent)
    assert (result.code, result.out) == (2, "")
    assert "'--agent'" in result.err


def test_b36_another_agents_memory_cannot_be_changed(cli: RunCli, kits: tuple[str, str]) -> None:
    kit, kit2 = kits
    for arguments in (["supersede", "narwhal-id", "--text", "x"], ["retract", "narwhal-id"], ["undo", "narwhal-id"]):
        assert cli(*arguments, "--agent", kit).code == 1
    assert cli("supersede", "quokka-id", "--by", "narwhal-id", "--agent", kit).code == 1
    for agent in (kit, kit2):
        statuses = [m["status"] for m in cli("memories", "--agent", agent, "--json").json["memories"]]
        assert statuses == ["active"]


def test_b36_another_agents_run_is_not_shown(cli: RunCli, thinker: Agent, kits: tuple[str, str]) -> None:
    run_id = thinker.reflect(force=True).run_id
    assert run_id is not None
    assert cli("run", run_id, "--agent", thinker.id).code == 0
    for agent in kits:
        result = cli("run", run_id, "--agent", agent)
        assert (result.code, result.out) == (1, "")


def vectors(value: object) -> Iterator[object]:
    """Lists of many numbers, anywhere in a JSON value."""
    if isinstance(value, list):
        if len(value) > 16 and all(isinstance(item, float) for item in value):
            yield value
        for item in value:
            yield from vectors(item)
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "embedding":
                yield name
            yield from vectors(item)


def test_b40_no_vector_is_shown_and_the_database_always_is(cli: RunCli, thinker: Agent, settings: Settings) -> None:
    report = thinker.reflect(force=True)
    [reflection], run_id = report.reflections, report.run_id
    assert run_id is not None
    commands = [
        ["retrieve", "Prius", "--agent", thinker.id],
        ["tree", "--agent", thinker.id],
        ["explain", reflection.id, "--agent", thinker.id],
        ["memories", "--agent", thinker.id],
        ["reflect", "--agent", thinker.id],
        ["recompute", "--agent", thinker.id],
        ["work", "--agent", thinker.id],
        ["observe", "A Prius passed", "--agent", thinker.id],
        ["about", "Evan", "--agent", thinker.id],
        ["history", reflection.id, "--agent", thinker.id],
        ["runs", "--agent", thinker.id],
        ["run", run_id, "--agent", thinker.id],
        ["doctor", "--agent", thinker.id],
        ["ask", "What of the Prius?", "--agent", thinker.id],
        ["plan", "--agent", thinker.id],
        ["timeline", "--agent", thinker.id],
        ["review", "--agent", thinker.id],
        ["usage", "--agent", thinker.id],
        ["agents"],
        ["status"],
        ["browser"],
    ]
    for arguments in commands:
        result = cli(*arguments)
        assert result.code == 0, result.err
        assert f"{settings.uri}" in result.out
        assert f"database {settings.database}" in result.out
        assert not re.search(r"(-?\d\.\d+, ){8}", result.out)
        answer = cli(*arguments, "--json").json
        assert answer["store"] == {"uri": settings.uri, "database": settings.database}
        assert list(vectors({key: value for key, value in answer.items() if key != "models"})) == []


def test_b40_every_command_uses_the_same_database_option(cli: RunCli, agent_id: str, turns: Path) -> None:
    for arguments in (
        ["retrieve", "x", "--agent", agent_id],
        ["tree", "--agent", agent_id],
        ["memories", "--agent", agent_id],
        ["about", "x", "--agent", agent_id],
        ["history", "x", "--agent", agent_id],
        ["runs", "--agent", agent_id],
        ["run", "x", "--agent", agent_id],
        ["doctor", "--agent", agent_id],
        ["observe", "x", "--agent", agent_id],
        ["work", "--agent", agent_id],
        ["ingest", str(turns), "--agent", agent_id],
        ["agents"],
        ["status"],
    ):
        result = cli(*arguments, "--database", "nosuchdatabase")
        assert result.code == 1
        assert result.out == ""
        assert "nosuchdatabase" in result.err


def test_b40_nothing_found_names_agent_and_database(cli: RunCli, evan: str, settings: Settings) -> None:
    for arguments in (["about", "Prius"], ["memories", "--type", "plan"], ["runs"], ["tree"]):
        result = cli(*arguments, "--agent", evan)
        assert result.code == 0
        assert f"agent {evan} in database {settings.database} at {settings.uri}" in result.out
