"""Forgetting, the log, review, and looking back, as a person uses them."""

from __future__ import annotations

from graphmem.agent import Agent
from tests.interfaces.conftest import RunCli


def test_forget_asks_first_and_says_what_it_would_do(cli: RunCli, evan: str) -> None:
    asked = cli("forget", "D1:2", "--agent", evan)
    assert (asked.code, asked.out) == (2, "")
    assert "I drive a new Prius" in asked.err
    assert "--yes" in asked.err
    plan = cli("forget", "D1:2", "--agent", evan, "--term", "Prius", "--dry-run")
    assert plan.code == 0
    assert "would forget 2 memories" in plan.out
    assert "My Prius broke down" in plan.out
    answer = cli("forget", "D1:2", "--agent", evan, "--term", "Prius", "--dry-run", "--json").json
    assert (answer["dry_run"], {memory["id"] for memory in answer["forgotten"]}) == (True, {"D1:2", "D1:3"})
    assert cli("memories", "--agent", evan, "--json").json["memories"][0]["status"] == "active"
    done = cli("forget", "D1:2", "--agent", evan, "--term", "Prius", "--yes")
    assert done.code == 0
    assert "forgot 2 memories" in done.out
    assert "Prius" not in cli("memories", "--agent", evan, "--json").out
    assert "(forgotten)" in cli("history", "D1:2", "--agent", evan).out
    again = cli("observe", "I drive a new Prius", "--agent", evan, "--id", "D1:2")
    assert again.code == 1
    assert "told to forget 'D1:2'" in again.err


def test_forget_a_whole_agent(cli: RunCli, evan: str) -> None:
    assert cli("forget", "--agent", evan).code == 2
    assert "would delete agent" in cli("forget", "--agent", evan, "--dry-run").out
    assert cli("forget", "--agent", evan, "--term", "x").code == 2
    answer = cli("forget", "--agent", evan, "--yes", "--json").json
    assert (answer["memories"], answer["dry_run"]) == (4, False)
    gone = cli("forget", "--agent", evan, "--yes")
    assert gone.code == 1
    assert "there is no agent" in gone.err


def test_the_log_and_review(cli: RunCli, thinker: Agent) -> None:
    agent = thinker.id
    assert "nothing was ended automatically" in cli("review", "--agent", agent).out
    cli("supersede", "D1:2", "--agent", agent, "--text", "I drive a Kia", "--reason", "sold it")
    cli("undo", "D1:2", "--agent", agent)
    shown = cli("log", "--agent", agent)
    assert shown.code == 0
    lines = [line for line in shown.out.splitlines() if " D1:2 " in line]
    assert ["restore" in lines[0], "supersede" in lines[1], "[undone]" in lines[1]] == [True, True, True]
    assert "by " in lines[1]
    assert "I drive a Kia" in lines[1]
    assert ": sold it" in lines[1]
    answer = cli("log", "--agent", agent, "--limit", "1", "--json").json
    assert len(answer["entries"]) == 1
    older = cli("log", "--agent", agent, "--before", str(answer["entries"][0]["seq"]), "--json").json
    assert all(entry["seq"] < answer["entries"][0]["seq"] for entry in older["entries"])


def test_a_keyed_fact_and_what_was_believed_before(cli: RunCli, agent_id: str) -> None:
    for room in (1, 2):
        cli("observe", f"Ana is in room {room}", "--agent", agent_id, "--id", f"r{room}", "--key", "room")
    first = cli("memories", "--agent", agent_id, "--json").json["memories"]
    assert {memory["id"]: memory["status"] for memory in first} == {"r1": "superseded", "r2": "active"}
    then = next(memory["recorded_at"] for memory in first if memory["id"] == "r1")
    answer = cli("retrieve", "Ana", "--agent", agent_id, "--as-of", then, "--json").json
    assert [hit["memory"]["id"] for hit in answer["hits"]] == ["r1"]
    assert cli("explain", "r1", "--agent", agent_id, "--as-of", then, "--json").json["supersessions"] == []
    early = cli("explain", "r2", "--agent", agent_id, "--as-of", then)
    assert early.code == 1
    assert "had no memory" in early.err
