"""A day at the command line: plan it, look at it, react, say what became of it, learn."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from graphmem import Memory
from graphmem.settings import Settings
from tests.interfaces.conftest import RunCli

NOW = datetime(2026, 6, 12, 5, tzinfo=UTC)


@pytest.fixture
def rosa(settings: Settings, agent_id: str) -> str:
    """An agent who lives on a day of her own, with a dinner ahead."""
    with Memory.open(settings=settings) as memory:
        agent = memory.agent(agent_id)
        agent.configure(
            name="Rosa Marsh", traits="A baker. Wakes up at 6:00.", time_zone="Europe/London", clock=NOW
        )  # fmt: skip
        agent.observe("Come to the dinner at the Ice House on 12 June at 19:00", id="dinner", kind="utterance",
                      source="Tobias", now="2026-06-11T20:00:00Z")  # fmt: skip
    return agent_id


def test_a_day_is_planned_and_shown_in_the_agents_own_time(cli: RunCli, rosa: str) -> None:
    result = cli("plan", "--agent", rosa)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "Friday 2026-06-12 (Europe/London), from 06:00 on"
    assert lines[1].startswith("06:00–07:00  get up, wash and have breakfast  ")
    assert any(re.match(r"19:00–20:00  go to the dinner at the Ice House  @ Ice House  \w+", line) for line in lines)
    assert any(re.match(r"  08:00–09:00  work as a baker", line) for line in lines)
    (dinner,) = [line.split()[-1] for line in lines if line.startswith("19:00–20:00")]
    shown = cli("explain", dinner, "--agent", rosa)
    assert re.search(r"^time +2026-06-12 19:00 to 20:00 \(Europe/London\)$", shown.out, re.MULTILINE)
    (told,) = [
        p
        for p in cli("plan", "--agent", rosa, "--json").json["plans"]
        if p["text"].startswith("go to") and p["kind"] == "day"
    ]
    assert (told["start"], told["end"]) == ("2026-06-12T19:00:00+01:00", "2026-06-12T20:00:00+01:00")
    assert lines[-1].startswith(f"agent {rosa} in database")
    again = cli("plan", "--agent", rosa, "--date", "2026-06-12")
    assert again.out.splitlines()[1:] == lines[1:]
    answer = cli("plan", "--agent", rosa, "--json").json
    assert (answer["agent_id"], answer["day"], answer["time_zone"]) == (rosa, "2026-06-12", "Europe/London")
    assert {plan["kind"] for plan in answer["plans"]} == {"day", "hour"}
    assert not [name for plan in answer["plans"] for name in plan if name == "embedding"]


def test_what_is_planned_for_a_moment(cli: RunCli, rosa: str) -> None:
    nothing = cli("plan", "--agent", rosa, "--now")
    assert (nothing.code, nothing.out.startswith("nothing is planned for that moment")) == (0, True)
    cli("plan", "--agent", rosa)
    now = cli("plan", "--agent", rosa, "--now")
    assert re.search(r"^    06:00–06:15  get up and wash  active", now.out, re.MULTILINE)
    answer = cli("plan", "--agent", rosa, "--at", "2026-06-12T19:10:00+01:00", "--json").json["current"]
    assert (answer["plan"]["kind"], answer["stale"]) == ("step", False)
    assert [plan["kind"] for plan in answer["within"]] == ["hour", "day"]


def test_a_stale_plan_is_named_and_made_anew(cli: RunCli, rosa: str) -> None:
    cli("plan", "--agent", rosa)
    assert "nothing that is planned is stale" in cli("plan", "--agent", rosa, "--anew").out
    cli("retract", "dinner", "--agent", rosa, "--reason", "he is ill")
    shown = cli("plan", "--agent", rosa)
    assert re.search(r"go to the dinner .* stale ", shown.out)
    assert "graphmem plan --anew" in shown.err
    anew = cli("plan", "--agent", rosa, "--anew")
    assert anew.code == 0
    assert "dinner at the Ice House" not in anew.out
    assert " of the old rest of the day" in anew.out


def test_react_finish_and_learn(cli: RunCli, rosa: str) -> None:
    cli("plan", "--agent", rosa)
    calm = cli("react", "A gull sits on the roof", "--agent", rosa)
    assert (calm.code, calm.out.startswith("does not react: ")) == (0, True)
    fire = cli("react", "Fire in the oven", "--agent", rosa)
    assert fire.out.startswith("reacts: it is urgent: Fire in the oven\ndoes now: see to it: Fire in the oven\n")
    answer = cli("plan", "--agent", rosa, "--json").json
    seen = next(plan for plan in answer["plans"] if plan["text"].startswith("see to it"))
    done = cli("finish", seen["id"][:18], "--agent", rosa, "--state", "missed", "--reason", "the key was lost")
    assert done.code == 0
    assert re.search(r"see to it: Fire in the oven  missed \(the key was lost\)", done.out)
    learned = cli("learn", "--agent", rosa)
    assert learned.code == 0
    assert "learned from 1 plan\n" in learned.out
    assert "“see to it: Fire in the oven” was missed (“the key was lost”)" in learned.out
    assert "nothing has become of a plan" in cli("learn", "--agent", rosa).out


def test_what_is_refused(cli: RunCli, rosa: str) -> None:
    for arguments, code, told in (
        (("plan", "--agent", rosa, "--date", "2026-06-11"), 1, "2026-06-11 is over"),
        (("plan", "--agent", rosa, "--date", "someday"), 2, "is not a date"),
        (("plan", "--agent", rosa, "--now", "--anew"), 2, "only one of"),
        (("plan", "--agent", "nobody-of-that-name"), 1, "nobody-of-that-name"),
        (("finish", "dinner", "--agent", rosa), 1, "is no plan"),
        (("finish", "nothing", "--agent", rosa), 1, "has no memory"),
        (("finish", "dinner", "--agent", rosa, "--state", "started"), 2, "started"),
        (("react", " ", "--agent", rosa), 1, "blank"),
    ):
        result = cli(*arguments)
        assert (result.code, result.out) == (code, "")
        assert told in result.err
        assert "remedy" in result.err or code == 1
