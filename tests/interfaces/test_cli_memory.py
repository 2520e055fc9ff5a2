"""The commands on a real Neo4j, as a person uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.agent import Agent
from graphmem.settings import Settings
from tests.interfaces.conftest import RunCli, jsonl

SHOWING = {"retrieve", "memories", "explain", "observe", "history"}
HOSTILE = "\x1b[2J[bold red]fake[/] \u202e line\nsecond [link=http://evil]x[/link]"


# --- ingest -----------------------------------------------------------------------------------------------------


def test_ingest_twice_adds_once(cli: RunCli, turns: Path, agent_id: str) -> None:
    first = cli("ingest", str(turns), "--agent", agent_id)
    assert first.code == 0
    assert "4 added, 0 known, 0 refused" in first.out
    second = cli("ingest", str(turns), "--agent", agent_id)
    assert second.code == 0
    assert "0 added, 4 known, 0 refused" in second.out
    assert len(cli("memories", "--agent", agent_id, "--json").json["memories"]) == 4


def test_ingest_names_what_it_refuses_and_keeps_the_rest(cli: RunCli, tmp_path: Path, agent_id: str) -> None:
    file = tmp_path / "mixed.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"id": "a", "text": "first", "importance": 3}\r\n'
        b"\r\n"
        b"not json\r\n"
        b'{"id": "b", "text": " "}\n'
        b'{"id": "c", "text": "third", "importance": 3}\n'
        b'{"id": "a", "text": "other content", "importance": 3}\n'
        b'{"id": "d", "text": "caf\xe9"}\n'
        b'{"id": "e", "text": "naive", "occurred_at": "2023-05-18T13:47:00"}\n'
        b'{"id": "f", "text": "last", "importance": 3}'
    )
    result = cli("ingest", str(file), "--agent", agent_id)
    assert result.code == 1
    assert "3 added, 0 known, 5 refused" in result.out
    refused = [line for line in result.complaints.splitlines() if "refused: " in line and line.startswith(str(file))]
    assert sorted(int(line.removeprefix(f"{file}:").split(":")[0]) for line in refused) == [3, 4, 6, 7, 8]
    assert any(f"{file}:6: refused: " in line and "other content" in line for line in refused)
    stored = cli("memories", "--agent", agent_id, "--json").json["memories"]
    assert {memory["id"]: memory["text"] for memory in stored} == {"a": "first", "c": "third", "f": "last"}


def test_ingest_finds_many_conflicts_among_many_lines(cli: RunCli, tmp_path: Path, agent_id: str) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(jsonl(*({"id": f"m{n}", "text": f"old {n}", "importance": 1} for n in range(0, 130, 9))))
    new.write_text(jsonl(*({"id": f"m{n}", "text": f"new {n}", "importance": 1} for n in range(130))))
    assert cli("ingest", str(old), "--agent", agent_id).code == 0
    result = cli("ingest", str(new), "--agent", agent_id, "--json")
    assert result.code == 1
    taken = len(range(0, 130, 9))
    assert (result.json["added"], result.json["known"]) == (130 - taken, 0)
    assert [refused["line"] for refused in result.json["refused"]] == list(range(1, 131, 9))


def test_ingest_from_standard_input_without_ids(cli: RunCli, agent_id: str) -> None:
    data = jsonl({"text": "one", "importance": 2}, {"text": "two", "importance": 2}).encode()
    assert "2 added, 0 known" in cli("ingest", "-", "--agent", agent_id, stdin=data).out
    assert "0 added, 2 known" in cli("ingest", "-", "--agent", agent_id, stdin=data).out


def test_observe_with_a_key_tells_what_holds_no_longer(cli: RunCli, agent_id: str) -> None:
    given = ("--agent", agent_id, "--key", "address of Ana", "--kind", "fact")
    first = cli("observe", "Ana lives in Bremen", "--id", "bremen", *given)
    assert "no longer" not in first.out
    second = cli("observe", "Ana lives in Kiel", *given)
    assert "holds no longer: fact bremen Ana lives in Bremen" in second.out
    third = cli("observe", "Ana lives in Hamburg", *given, "--json").json
    (before,) = third["superseded"]
    assert (before != third["memory"]["id"], third["stale"]) == (True, [])


def test_ingest_of_nothing(cli: RunCli, agent_id: str) -> None:
    result = cli("ingest", "-", "--agent", agent_id)
    assert result.code == 0
    assert "0 added, 0 known, 0 refused" in result.out
    assert agent_id not in cli("agents").out


def test_ingest_of_a_text_as_it_is_leads_to_what_reads_one(cli: RunCli, agent_id: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("The key hangs in the hall.\n", "utf-8")
    result = cli("ingest", str(file), "--agent", agent_id)
    assert result.code == 1
    assert 'an object such as {"text": "…"}; of a text as it is: graphmem try FILE QUESTION --keep' in result.err
    zoneless = jsonl({"text": "one", "occurred_at": "2026-10-03"}, {"text": "two", "importance": 2}).encode()
    result = cli("ingest", "-", "--agent", agent_id, stdin=zoneless)
    assert (result.code, "graphmem try" in result.err) == (1, False)
    assert "the time 2026-10-03T00:00:00 has no zone, such as Z or +02:00" in result.err


@pytest.mark.parametrize("agent", ["", " ", "x" * 513])
def test_ingest_for_an_agent_that_cannot_be(cli: RunCli, turns: Path, agent: str) -> None:
    result = cli("ingest", str(turns), "--agent", agent)
    assert result.code == 2
    assert "'--agent'" in result.err


# --- retrieve ---------------------------------------------------------------------------------------------------


def test_retrieve_shows_every_part_of_the_score(cli: RunCli, evan: str) -> None:
    result = cli("retrieve", "Prius", "--agent", evan, "--weights", "relevance=1,recency=0,importance=0")
    assert result.code == 0
    assert "I drive a new Prius" in result.out
    for part in ("score", "relevance", "recency", "importance", "raw → part × weight"):
        assert part in result.out
    assert re.search(r"1\.000 +0\.\d{3} → 1\.000 × 1 ", result.out)
    assert f"4 of 4 memories of agent {evan}" in result.out


def test_retrieve_as_json_adds_up_and_holds_no_vector(cli: RunCli, evan: str, settings: Settings) -> None:
    answer = cli("retrieve", "Prius", "--agent", evan, "--k", "2", "--json").json
    assert answer["store"] == {"uri": settings.uri, "database": settings.database}
    assert answer["agent_id"] == evan
    assert len(answer["hits"]) == 2
    for hit in answer["hits"]:
        parts = (hit["relevance"], hit["recency"], hit["importance"])
        assert hit["score"] == pytest.approx(sum(part["weight"] * part["normalised"] for part in parts))


def test_no_touch_leaves_the_times_of_access(cli: RunCli, evan: str) -> None:
    def accessed() -> list[str]:
        return [m["last_accessed_at"] for m in cli("memories", "--agent", evan, "--json").json["memories"]]

    before = accessed()
    cli("retrieve", "Prius", "--agent", evan, "--no-touch")
    assert accessed() == before
    cli("retrieve", "Prius", "--agent", evan, "--touch")
    assert all(now > then for now, then in zip(accessed(), before, strict=True))


def test_b14_an_empty_memory_answers_plainly(cli: RunCli, agent_id: str, settings: Settings) -> None:
    with Memory.open(settings=settings) as memory:
        memory.agent(agent_id).configure(name="Nobody yet")
    for arguments in (
        ["retrieve", "anything"],
        ["reflect"],
        ["recompute"],
        ["tree"],
        ["memories"],
        ["about", "anything"],
        ["runs"],
    ):
        result = cli(*arguments, "--agent", agent_id)
        assert (result.code, result.complaints) == (0, "")
        assert agent_id in result.out
        assert "database neo4j" in result.out
        answer = cli(*arguments, "--agent", agent_id, "--json")
        assert answer.code == 0
        assert answer.json["agent_id"] == agent_id
    assert "nothing found" in cli("retrieve", "anything", "--agent", agent_id).out


def test_narrow_terminals_show_the_memory_and_every_part(
    cli: RunCli, evan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = cli("retrieve", "Prius", "--agent", evan, "--weights", "relevance=1,recency=0,importance=0")
    assert result.code == 0
    assert "I drive a new Prius" in result.out
    assert all(name in result.out for name in ("relevance", "recency", "importance"))
    assert max(map(len, result.out.splitlines()[:-1])) <= 80


@pytest.mark.parametrize(("k", "code", "found"), [("3", 0, 3), ("4", 0, 4), ("10000", 0, 4), ("1", 0, 1)])
def test_b14_k_that_can_be_served(cli: RunCli, evan: str, k: str, code: int, found: int) -> None:
    result = cli("retrieve", "Prius", "--agent", evan, "--k", k, "--json")
    assert result.code == code
    assert len(result.json["hits"]) == found


@pytest.mark.parametrize(("k", "code"), [("0", 2), ("-1", 2), ("10001", 2), ("True", 2), ("None", 2), ("1.5", 2)])
def test_b14_k_that_cannot(cli: RunCli, evan: str, k: str, code: int) -> None:
    result = cli("retrieve", "Prius", "--agent", evan, "--k", k)
    assert (result.code, result.out) == (code, "")
    assert result.complaints.startswith("error: ")
    assert len(result.complaints.splitlines()) <= 2


# --- belief -----------------------------------------------------------------------------------------------------


def test_reflect_supersede_tree_recompute_tree(cli: RunCli, thinker: Agent) -> None:
    report = thinker.reflect(force=True)
    assert [reflection.text for reflection in report.reflections] == ["Evan likes cars, his Prius most"]
    agent = thinker.id

    before = cli("tree", "--agent", agent)
    assert before.code == 0
    assert re.search(r"insight \S+ \[active\] Evan likes cars", before.out)
    assert "utterance D1:2 Evan: I drive a new Prius" in before.out
    assert "1 reflection (0 stale) on 2 memories" in before.out

    change = cli("supersede", "D1:2", "--agent", agent, "--text", "I drive a Kia", "--reason", "sold it")
    assert change.code == 0
    assert "superseded: utterance D1:2" in change.out
    assert "by: fact" in change.out
    assert "turned stale: 1" in change.out
    assert "Evan likes cars" in change.out

    stale = cli("tree", "--agent", agent)
    assert re.search(r"insight \S+ \[stale because D1:2 was superseded by \S+\] Evan likes cars", stale.out)
    assert re.search(r"D1:2 \[superseded by \S+ “I drive a Kia”, correction: sold it\]", stale.out)
    assert "1 reflection (1 stale)" in stale.out

    found = cli("retrieve", "Evan likes cars, his Prius most", "--agent", agent)
    assert "Evan likes cars" not in found.out
    assert "1 stale memory is withheld" in found.err
    assert f"graphmem recompute --agent {agent}" in found.err

    again = cli("supersede", "D1:2", "--agent", agent, "--text", "I walk")
    assert again.code == 1
    assert again.complaints.startswith("error: ")

    recomputed = cli("recompute", "--agent", agent)
    assert recomputed.code == 0
    assert re.search(r"0 confirmed, \d revised, \d retracted, 0 failed", recomputed.out)
    after = cli("tree", "--agent", agent)
    assert "stale because" not in after.out
    assert "nothing is stale" in cli("recompute", "--agent", agent).out


def test_retract_and_explain(cli: RunCli, thinker: Agent) -> None:
    [reflection] = thinker.reflect(force=True).reflections
    result = cli("retract", "D1:3", "--agent", thinker.id, "--reason", "was a joke")
    assert result.code == 0
    assert "retracted: utterance D1:3" in result.out
    explained = cli("explain", reflection.id[:18], "--agent", thinker.id)
    assert explained.code == 0
    assert "stale because D1:3 was retracted" in explained.out
    assert "depth     " in explained.out
    assert "scripted" in explained.out
    assert "utterance D1:3 [retracted]" in explained.out
    answer = cli("explain", reflection.id, "--agent", thinker.id, "--json").json
    assert answer["roots"] == [reflection.id]
    assert answer["memories"]["D1:3"]["status"] == "retracted"
    assert reflection.id in answer["runs"]


def test_supersede_by_an_existing_memory(cli: RunCli, evan: str) -> None:
    answer = cli("supersede", "D1:2", "--agent", evan, "--by", "D1:3", "--mode", "update", "--json").json
    assert answer["memory"]["status"] == "superseded"
    assert answer["replacement"]["id"] == "D1:3"
    assert (
        "[superseded by D1:3 “My Prius broke down near the lake”, update]" in cli("tree", "D1:2", "--agent", evan).out
    )


def test_superseding_itself_is_refused(cli: RunCli, evan: str) -> None:
    result = cli("supersede", "D1:2", "--agent", evan, "--by", "D1:2")
    assert result.code == 1
    assert cli("memories", "--agent", evan, "--status", "superseded", "--json").json["memories"] == []


# --- what stored text may not do ------------------------------------------------------------------------------------


def test_stored_text_cannot_steer_the_terminal(cli: RunCli, agent_id: str) -> None:
    agent = f"{agent_id}\x1b[31m[red]"
    item = {"id": "id\x1b[0m[x]", "text": HOSTILE, "source": HOSTILE, "session": HOSTILE, "importance": 5}
    added = cli("ingest", "-", "--agent", agent, stdin=jsonl(item).encode())
    assert added.code == 0
    assert cli("observe", HOSTILE, "--agent", agent, "--subject", HOSTILE, "--id", "x\x1b[1m").code == 0
    assert cli("supersede", "id", "--agent", agent, "--text", HOSTILE, "--reason", HOSTILE).code == 0
    for arguments in (
        ["retrieve", HOSTILE, "--agent", agent],
        ["tree", "id", "--agent", agent],
        ["explain", "id", "--agent", agent],
        ["memories", "--agent", agent],
        ["tree", "--agent", agent],
        ["agents"],
        ["explain", "no\x1b[31msuch", "--agent", agent],
        ["observe", HOSTILE, "--agent", agent, "--subject", HOSTILE, "--id", "x\x1b[1m"],
        ["about", HOSTILE, "--agent", agent],
        ["about", "\x1b[31m\u202enobody", "--agent", agent],
        ["history", "id", "--agent", agent],
        ["run", "no\x1b[31msuch", "--agent", agent],
        ["runs", "--agent", agent],
        ["doctor", "--agent", agent],
        ["browser", "--agent", agent],
    ):
        for extra in ([], ["--json"]):
            result = cli(*arguments, *extra)
            shown = result.out + result.err
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown), arguments
            if (
                not extra
                and arguments[0] in {"retrieve", "memories", "explain", "observe", "history"}
                and result.code == 0
            ):
                assert "[bold red]fake[/]" in shown


def test_long_text_is_shortened_in_lists_and_whole_in_explain(cli: RunCli, agent_id: str) -> None:
    text = "word " * 10_000 + "the end"
    item = {"id": "long", "text": text, "importance": 5}
    assert cli("ingest", "-", "--agent", agent_id, stdin=jsonl(item).encode()).code == 0
    for arguments in (["retrieve", "word"], ["memories"], ["tree", "long"]):
        result = cli(*arguments, "--agent", agent_id)
        assert "…" in result.out
        assert len(result.out) < 2_000
    assert text in cli("explain", "long", "--agent", agent_id).out
    assert cli("explain", "long", "--agent", agent_id, "--json").json["memories"]["long"]["text"] == text


# --- lists ----------------------------------------------------------------------------------------------------------


def test_agents_and_status_count(cli: RunCli, evan: str, settings: Settings) -> None:
    listed = {agent["id"]: agent for agent in cli("agents", "--json").json["agents"]}
    assert listed[evan]["observations"] == 4
    assert listed[evan]["importance_since_reflection"] == 4 + 5 + 6 + 7
    assert "22 of 150" in cli("agents").out
    status = cli("status", "--json").json
    assert status["server"] is None
    assert status["models"] == {"embedding": settings.embedding, "language_model": settings.language_model}
    assert evan in {agent["id"] for agent in status["agents"]}
    assert "extractive" in cli("status").out


def test_memories_page_by_page(cli: RunCli, evan: str) -> None:
    first = cli("memories", "--agent", evan, "--limit", "3")
    assert "--after D1:2" in first.err
    rest = cli("memories", "--agent", evan, "--after", "D1:2", "--json").json["memories"]
    assert [memory["id"] for memory in rest] == ["D1:3"]
    assert cli("memories", "--agent", evan, "--type", "reflection", "--json").json["memories"] == []


def test_reflect_says_when_it_is_not_due(cli: RunCli, evan: str) -> None:
    result = cli("reflect", "--agent", evan)
    assert result.code == 0
    assert "not due: importance 22 of 150" in result.out


def test_tree_collapses_what_is_large_and_says_so(cli: RunCli, thinker: Agent) -> None:
    thinker.reflect(force=True)
    result = cli("tree", "--agent", thinker.id, "--limit", "2")
    assert "… rests on 1 more memory not drawn" in result.out
    assert "not all of it is drawn" in result.err
    assert "--limit" in result.err
    assert len(cli("tree", "--agent", thinker.id, "--limit", "2", "--json").json["memories"]) == 3
