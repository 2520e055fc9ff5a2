"""``graphmem retrieve`` with its filters, profiles and bars, and ``graphmem calibrate``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphmem.models import Profile
from tests.interfaces.conftest import RunCli, jsonl

DAYS = [
    {"id": "n1", "text": "The lock gate jams in the cold", "kind": "event", "place": "lock", "importance": 6,
     "occurred_at": "2026-01-03T08:00:00Z"},
    {"id": "n2", "text": "The lock gate was greased by the keeper", "kind": "utterance", "source": "Rosa",
     "place": "lock", "importance": 4, "occurred_at": "2026-02-03T08:00:00Z"},
    {"id": "n3", "text": "The keeper of the lock gate is called Wim", "kind": "fact", "source": "Rosa",
     "place": "office", "importance": 5, "occurred_at": "2026-03-03T08:00:00Z"},
]  # fmt: skip


@pytest.fixture
def keeper(cli: RunCli, agent_id: str) -> str:
    assert cli("ingest", "-", "--agent", agent_id, stdin=jsonl(*DAYS).encode()).code == 0
    return agent_id


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--kind", "fact"], {"n3"}),
        (["--kind", "fact", "--kind", "event"], {"n1", "n3"}),
        (["--place", "lock"], {"n1", "n2"}),
        (["--source", "Rosa"], {"n2", "n3"}),
        (["--since", "2026-02-01T00:00:00Z", "--until", "2026-03-01T00:00:00Z"], {"n2"}),
        (["--place", "lock", "--source", "Rosa", "--profile", "recall"], {"n2"}),
    ],
)
def test_filters(cli: RunCli, keeper: str, options: list[str], found: set[str]) -> None:
    answer = cli("retrieve", "lock gate", "--agent", keeper, "--no-touch", "--json", *options)
    assert {hit["memory"]["id"] for hit in answer.json["hits"]} == found


def test_explain_draws_each_part_as_a_bar(cli: RunCli, keeper: str) -> None:
    result = cli("retrieve", "lock gate", "--agent", keeper, "--explain")
    assert result.code == 0
    for part in ("relevance", "recency", "importance"):
        assert part in result.out
    assert "█" in result.out
    assert cli("retrieve", "lock gate", "--agent", keeper, "--explain", "--profile", "recall").out.count("█") > 0


def test_a_budget_names_what_did_not_fit(cli: RunCli, keeper: str) -> None:
    result = cli("retrieve", "lock gate", "--agent", keeper, "--token-budget", "30", "--no-touch")
    assert result.code == 0
    assert "did not fit into the budget" in result.err
    answer = cli("retrieve", "lock gate", "--agent", keeper, "--token-budget", "30", "--no-touch", "--json").json
    assert {hit["memory"]["id"] for hit in answer["hits"]} | set(answer["left_out"]) == {"n1", "n2", "n3"}
    assert answer["tokens"] <= 30


def test_an_own_profile_is_a_file(cli: RunCli, keeper: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    own = {"name": "mine", "weights": {"relevance": 0, "recency": 0, "importance": 1}}
    file.write_text(json.dumps(own), "utf-8")
    answer = cli("retrieve", "anything", "--agent", keeper, "--profile", str(file), "--no-touch", "--json").json
    assert [hit["memory"]["id"] for hit in answer["hits"]] == ["n1", "n3", "n2"]
    assert answer["profile"]["name"] == "mine"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no profile"),
        (b"{}", "holds no profile"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[1]", "holds no profile"),
    ],
)
def test_a_profile_that_is_none(cli: RunCli, keeper: str, tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "mine.json"
    if content is not None:
        file.write_bytes(content)
    result = cli("retrieve", "x", "--agent", keeper, "--profile", str(file))
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert "paper or recall" in result.err or says == "is not UTF-8"


def test_calibrate_writes_a_profile_that_retrieve_takes(cli: RunCli, keeper: str, tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "fitted.json"
    asked = [{"query": f"who greased the gate, {n}", "relevant": ["n2"], "category": "who"} for n in range(6)]
    asked += [{"query": f"the name of the keeper, {n}", "relevant": ["n3"], "category": "name"} for n in range(6)]
    questions.write_text(jsonl(*asked), "utf-8")
    result = cli("calibrate", str(questions), "--agent", keeper, "--out", str(out))
    assert result.code == 0, result.err
    for said in ("nDCG@10", "recall@10", "who, recall@10", "gain in nDCG@10", "calibrated on 12 questions"):
        assert said in result.out
    fitted = Profile.model_validate_json(out.read_text("utf-8"))
    answer = cli("retrieve", "who greased it", "--agent", keeper, "--profile", str(out), "--no-touch", "--json").json
    assert answer["profile"] == fitted.model_dump(mode="json")
    found = cli("calibrate", str(questions), "--agent", keeper, "--json").json
    assert found["before"]["recall_at_10"]["low"] <= found["before"]["recall_at_10"]["mean"] <= 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"query": "x"}\n', "line 1"),
        (b'{"query": "x", "relevant": ["n1"]}\nnot json\n', "line 2"),
        (b"\xff\xff", "not UTF-8"),
        (b'{"query": "x", "relevant": ["n1"]}\n', "10"),
    ],
)
def test_questions_that_cannot_be_used(cli: RunCli, keeper: str, tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(content)
    result = cli("calibrate", str(file), "--agent", keeper)
    assert (result.code, result.out) == (2 if says == "not UTF-8" else 1, "")
    assert says in result.err
    assert "Traceback" not in result.err
