"""``interview`` and ``evaluate``: four conditions over one history, a blind sheet, rankings judged, three figures."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import RunCli, jsonl

AT = "2026-06-14T12:00:00Z"


@pytest.fixture
def painter(cli: RunCli, agent_id: str) -> str:
    """An agent that has observed, reflected and planned."""
    texts = [
        "Klara Berg sketched the harbour mural on the long wall.",
        "Klara Berg mixed blue paint for the harbour mural.",
        "Klara Berg painted the gulls of the harbour mural a second time.",
    ]
    items = [
        {"id": f"k{n}", "text": text, "importance": 6, "occurred_at": f"2026-06-12T0{n}:00:00Z"}
        for n, text in enumerate(texts)
    ]
    items.append({"id": "q", "text": "Is the mural done?", "source": "Jonas", "kind": "utterance", "importance": 3})
    assert cli("ingest", "-", "--agent", agent_id, stdin=jsonl(*items).encode()).code == 0
    assert cli("reflect", "--agent", agent_id, "--force").code == 0
    return agent_id


def test_four_conditions_over_one_history(cli: RunCli, painter: str, tmp_path: Path) -> None:
    before = cli("memories", "--agent", painter, "--json").out
    found = cli("interview", "--agent", painter, "--at", AT, "--out", str(tmp_path / "sheet"), "--json").json
    assert cli("memories", "--agent", painter, "--json").out == before
    assert len(found["asked"]) == 25
    areas = [one["area"] for one in found["asked"]]
    assert {areas.count(area) for area in areas} == {5}
    told = [(one["answers"]["full"], one["answers"]["no reflection"], one) for one in found["asked"]]
    differs = [one for full, without, one in told if full["text"] != without["text"]]
    assert differs, "reflection switched off changes an answer"
    one = differs[0]["answers"]
    assert any(sentence["inferred"] for sentence in one["full"]["sentences"])
    assert not any(sentence["inferred"] for sentence in one["no reflection"]["sentences"])
    assert not any(one["answers"]["no memory"]["known"] for one in found["asked"])
    sheet = (tmp_path / "sheet" / "sheet.md").read_text("utf-8")
    assert "[1]" in sheet
    assert sheet.count("**A.**") == sheet.count("**D.**") == 25
    assert not any(word in sheet for word in ("full", "no reflection", "no memory"))
    key = json.loads((tmp_path / "sheet" / "key.json").read_text("utf-8"))["conditions"]
    assert {frozenset(names.values()) for names in key.values()} == {frozenset(found["asked"][0]["answers"])}
    assert len({tuple(names.values()) for names in key.values()}) > 5, "each question has an order of its own"


def test_rankings_are_judged(cli: RunCli, tmp_path: Path) -> None:
    conditions = ["full", "no reflection", "no reflection, no planning", "no memory"]
    key = {str(n): dict(zip("ABCD", conditions[n % 4 :] + conditions[: n % 4], strict=True)) for n in range(1, 26)}
    (tmp_path / "key.json").write_text(json.dumps({"agent": "x", "conditions": key}), "utf-8")
    file = tmp_path / "rankings.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["rater", "question", *"ABCD"])
        for n, names in key.items():
            writer.writerow(["Ada", n, *(conditions.index(names[letter]) + 1 for letter in "ABCD")])
    found = cli("interview", "--rankings", str(file), "--json").json
    skill = [found["trueskill"][name]["mu"] for name in conditions]
    assert skill == sorted(skill, reverse=True)
    assert found["dunn"]["full / no memory"] < 0.001
    assert "Dunn" in cli("interview", "--rankings", str(file)).out
    file.write_text("rater,question,A,B,C,D\nAda,1,1,2,3,9\n", "utf-8")
    refused = cli("interview", "--rankings", str(file))
    assert (refused.code, "line 2" in refused.err) == (1, True)
    assert cli("interview").code == 2


@pytest.mark.parametrize("package", ["trueskill", "scikit_posthocs"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(package: str, tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(json.dumps({"agent": "x", "conditions": {"1": dict.fromkeys("ABCD", "full")}}))
    (tmp_path / "rankings.csv").write_text("rater,question,A,B,C,D\nAda,1,1,2,3,4\n")
    # An entry of None is how Python marks a module as absent.
    code = (
        "import sys; sys.modules[sys.argv[1]] = None\n"
        "from graphmem.interfaces.cli.app import run; sys.exit(run(['interview', '--rankings', sys.argv[2]]))"
    )
    command = [sys.executable, "-c", code, package, str(tmp_path / "rankings.csv")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        f"error: rankings need {package}, which is not installed",
        "remedy: pip install 'graphmem[interview]'",
    ]


def test_three_figures_apart(cli: RunCli, painter: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    asked = [
        {"query": "Who mixed blue paint for the harbour mural?", "relevant": ["k1"]},
        {"query": "Where does the ferry go?", "relevant": ["k0"]},
    ]
    file.write_text(jsonl(*asked), "utf-8")
    assert cli("plan", "--agent", painter).code == 0
    found = cli("evaluate", "--agent", painter, "--questions", str(file), "--json").json
    assert found["past"] == {"questions": 2, "right": 1, "unknown": 1, "wrong": 0}
    plans = found["consistency"]
    assert plans["plans"] > 0
    assert (plans["overlaps"], plans["impossible"]) == (0, 0)
    assert plans["agrees"] == plans["asked"] > 0
    assert "not asked" in cli("evaluate", "--agent", painter).out
