"""Observing one thing, exact look-ups, and what happened, on a real Neo4j as a person uses them."""

from __future__ import annotations

import re

from graphmem import AsyncMemory, Memory
from graphmem.agent import Agent
from graphmem.cognition.checks import REMEDIES
from graphmem.graph.queries import queries
from graphmem.settings import Settings
from tests.interfaces.conftest import RunCli
from tests.scripted import Scripted


def test_observe_with_everything_and_again(cli: RunCli, agent_id: str) -> None:
    arguments = [
        *("observe", "I drive a Kia now", "--agent", agent_id, "--id", "D2:1", "--kind", "utterance"),
        *("--importance", "6", "--at", "2023-05-19T10:30:00+02:00", "--source", "Evan", "--session", "D2"),
        *("--place", "lake", "--subject", "Evan", "--predicate", "drives", "--object", "Kia"),
        *("--keyword", "cars", "--keyword", "Kia"),
    ]
    first = cli(*arguments)
    assert (first.code, first.complaints) == (0, "")
    assert first.out.startswith("observed: utterance D2:1 I drive a Kia now\n")
    assert f"agent {agent_id} in database" in first.out
    assert cli(*arguments).out.startswith("known already: utterance D2:1 ")
    answer = cli(*arguments, "--json").json
    assert answer["added"] is False
    stored = answer["memory"]
    assert (stored["occurred_at"], stored["importance"], stored["importance_by"]) == (
        "2023-05-19T08:30:00Z",
        6,
        "caller",
    )
    assert [stored[name] for name in ("source", "session", "place")] == ["Evan", "D2", "lake"]
    assert [stored[name] for name in ("subject", "predicate", "object")] == ["Evan", "drives", "Kia"]
    assert stored["keywords"] == ["cars", "Kia"]
    taken = cli("observe", "something else", "--agent", agent_id, "--id", "D2:1")
    assert (taken.code, taken.out) == (1, "")
    assert "other content" in taken.err
    assert len(cli("memories", "--agent", agent_id, "--json").json["memories"]) == 1


def test_observe_from_standard_input(cli: RunCli, agent_id: str) -> None:
    text = "two lines\n北 👨‍👩‍👧"
    answer = cli("observe", "-", "--agent", agent_id, "--json", stdin=f"{text}\n".encode()).json
    assert (answer["added"], answer["memory"]["text"], answer["memory"]["kind"]) == (True, text, "event")


def test_about_lists_what_names_it_latest_first(cli: RunCli, evan: str) -> None:
    result = cli("about", "Evan", "--agent", evan)
    assert result.code == 0
    assert re.findall(r"utterance (\S+) ", result.out) == ["D1:12", "D1:3", "D1:2"]
    assert "3 memories of agent" in result.out
    paged = cli("about", "Evan", "--agent", evan, "--limit", "2")
    assert "--after D1:3" in paged.err
    answer = cli("about", "Evan", "--agent", evan, "--after", "D1:3", "--json").json
    assert [memory["id"] for memory in answer["memories"]] == ["D1:2"]


def test_about_says_what_it_leaves_out(cli: RunCli, evan: str) -> None:
    assert "no memory of" in cli("about", "evan", "--agent", evan).out
    assert cli("retract", "D1:1", "--agent", evan).code == 0
    result = cli("about", "Sam", "--agent", evan)
    assert (result.code, "no active memory of" in result.out, "--all" in result.err) == (0, True, True)
    assert "[retracted]" in cli("about", "Sam", "--agent", evan, "--all").out


def test_history_of_an_insight_and_of_what_it_rested_on(cli: RunCli, thinker: Agent) -> None:
    [insight] = thinker.reflect(force=True).reflections
    cli("supersede", "D1:2", "--agent", thinker.id, "--text", "I drive a Kia", "--mode", "update", "--reason", "sold")
    ground = cli("history", "D1:2", "--agent", thinker.id)
    assert ground.code == 0
    header, observed, superseded, where = ground.out.splitlines()
    assert "utterance D1:2 [superseded] 5 Evan: I drive a new Prius" in header
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC  observed", observed)
    assert re.search(r"UTC  superseded by \S+ “I drive a Kia” \(update\): sold$", superseded)
    assert where.startswith(f"agent {thinker.id} in database ")

    cli("recompute", "--agent", thinker.id)
    shown = cli("history", insight.id[:18], "--agent", thinker.id).out
    assert re.search(r"UTC  inferred \(reflect, by scripted, run \S+\)", shown)
    assert "UTC  turned stale as D1:2 “I drive a new Prius” was superseded: sold" in shown
    assert re.search(r"UTC  (superseded by|retracted|confirmed).* \(.*recompute, by extractive\)", shown)
    answer = cli("history", insight.id, "--agent", thinker.id, "--json").json
    assert answer["memory"]["id"] == insight.id
    assert [event["type"] for event in answer["events"]][:2] == ["inferred", "stale"]


def test_undo_is_part_of_the_history(cli: RunCli, evan: str) -> None:
    made = cli("supersede", "D1:2", "--agent", evan, "--text", "I drive a Kia", "--json").json["replacement"]["id"]
    assert cli("undo", "D1:2", "--agent", evan, "--reason", "it was a joke").code == 0
    shown = cli("history", "D1:2", "--agent", evan).out
    assert re.search(r"UTC  superseded by .*\n.*UTC  restored: it was a joke\n", shown)
    shown = cli("history", made, "--agent", evan).out
    assert re.search(
        r"UTC  took the place of D1:2 .*\n.*UTC  retracted as D1:2 “I drive a new Prius” was restored", shown
    )


def test_runs_and_one_of_them(cli: RunCli, thinker: Agent) -> None:
    report = thinker.reflect(force=True)
    listed = cli("runs", "--agent", thinker.id)
    assert listed.code == 0
    assert re.search(rf"reflect {report.run_id} reflected by scripted, [\d,]+ tokens", listed.out)
    [run] = cli("runs", "--agent", thinker.id, "--json").json["runs"]
    assert (run["id"], run["outcome"], run["error"]) == (report.run_id, "reflected", None)

    shown = cli("run", run["id"], "--agent", thinker.id)
    assert shown.code == 0
    assert "model     scripted" in shown.out
    assert "answered  What matters most here?" in shown.out
    assert "shown: 4 memories" in shown.out
    assert re.search(r"  \d\.( \(\d\.\d{3}\))? utterance D1:2 I drive a new Prius", shown.out)
    assert "wrote: 1 memory\n  + insight" in shown.out
    assert "refused: 0 items" in shown.out
    answer = cli("run", run["id"], "--agent", thinker.id, "--json").json
    assert answer["run"] == run
    assert len(answer["shown"]) == 4
    assert [memory["text"] for memory in answer["wrote"]] == ["Evan likes cars, his Prius most"]


def test_a_run_names_each_refused_item_with_its_gate_and_reason(cli: RunCli, evan: str, settings: Settings) -> None:
    model = Scripted(infer=lambda task: {"insights": [{"text": "Evan sings [x]", "evidence": [99]}]})
    with Memory.open(settings=settings, language_model=model) as memory:
        report = memory.agent(evan).reflect(force=True)
    shown = cli("run", report.run_id or "", "--agent", evan).out
    assert "outcome  no_insight" in shown
    assert "refused: 1 item\n" in shown
    assert re.search(r"  - index: .*99.*: Evan sings \[x\]", shown)
    assert ", 1 refused" in cli("runs", "--agent", evan).out


# --- doctor -----------------------------------------------------------------------------------------------------


def test_doctor_finds_nothing_wrong_with_what_graphmem_wrote(cli: RunCli, thinker: Agent) -> None:
    thinker.reflect(force=True)
    cli("supersede", "D1:2", "--agent", thinker.id, "--text", "I drive a Kia")
    result = cli("doctor", "--agent", thinker.id)
    assert (result.code, result.complaints) == (0, "")
    assert result.out.startswith(f"all is well: 5 memories held and 1 ended checked of agent {thinker.id} in database ")
    assert cli("doctor", "--agent", thinker.id, "--json").json["violations"] == []


async def test_doctor_names_what_is_wrong_with_a_remedy_and_exit_code_1(
    cli: RunCli, memory: AsyncMemory, evan: str
) -> None:
    driver = memory._engine.store._driver
    async with driver.session(database=memory.settings.database) as session:
        await (
            await session.run(
                "MATCH (a:Agent {id: $agent}) SET a.held = 77 WITH a "
                "MATCH (m:Memory {agentId: $agent, id: 'D1:2'}) SET m.endedAt = datetime()",
                agent=evan,
            )
        ).consume()
    result = cli("doctor", "--agent", evan)
    assert (result.code, result.complaints) == (1, "")
    assert "ended: D1:2 is active, but not marked so everywhere\n  remedy: " in result.out
    assert f"held: {evan} holds 4 memories, but counts 77\n  remedy: " in result.out
    assert f"2 rules broken: 4 memories held and 0 ended checked of agent {evan}" in result.out
    answer = cli("doctor", "--agent", evan, "--json")
    assert answer.code == 1
    assert [violation["rule"] for violation in answer.json["violations"]] == ["ended", "held"]
    assert all(violation["remedy"] for violation in answer.json["violations"])


async def test_the_doctor_names_what_cannot_be_read(memory: AsyncMemory, evan: str, cli: RunCli) -> None:
    async with memory._engine.store._driver.session(database=memory.settings.database) as session:
        await (
            await session.run(
                "MATCH (a:Agent {id: $agent}) REMOVE a.name WITH a MATCH (m:Memory {agentId: $agent, id: 'D1:2'}) "
                "REMOVE m.kind, m.recordedAt",
                agent=evan,
            )
        ).consume()
    try:
        assert "remedy: graphmem doctor" in cli("memories", "--agent", evan).err
        result = cli("doctor", "--agent", evan)
        assert (result.code, result.complaints) == (1, "")
        assert f"whole: {evan} agent without name\n  remedy: " in result.out
        assert "whole: D1:2 memory without kind, recordedAt\n  remedy: " in result.out
        assert f"2 rules broken of agent {evan}" in result.out
    finally:  # The store is others' as well, and nobody's agents can be listed while one has no name.
        await memory.agent(evan).configure(name="Evan")
        await memory.forget_agent(evan)


def test_every_check_has_a_remedy_in_one_line() -> None:
    checks = {name.removeprefix("check/") for name in queries if name.startswith("check/")}
    assert set(REMEDIES) == checks
    for remedy in REMEDIES.values():
        assert "\n" not in remedy.format(agent="a", id="b")


def test_an_agent_that_is_not_there_is_not_well(cli: RunCli, agent_id: str) -> None:
    result = cli("doctor", "--agent", agent_id)
    assert (result.code, result.out) == (1, "")
    assert "there is no agent" in result.err
