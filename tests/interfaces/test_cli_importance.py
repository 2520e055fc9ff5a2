"""Feedback, reappraisal, usage, and the trial of a model, as a person uses them."""

from __future__ import annotations

import re

from tests.interfaces.conftest import RunCli


def test_feedback_and_its_history(cli: RunCli, evan: str) -> None:
    before = next(m for m in cli("memories", "--agent", evan, "--json").json["memories"] if m["id"] == "D1:2")
    result = cli("feedback", "D1:2", "--agent", evan, "--useful", "--reason", "it named the car")
    assert result.code == 0
    assert result.out.startswith(f"importance {before['importance']} → {before['importance'] + 1}: D1:2 ")
    told = cli("history", "D1:2", "--agent", evan).out
    assert re.search(r"importance \d+ → \d+ by feedback: it named the car", told)
    missing = cli("feedback", "D1:2", "--agent", evan)
    assert (missing.code, missing.out) == (2, "")


def test_reappraise_and_usage(cli: RunCli, evan: str) -> None:
    assert "0 memories changed, 0 as before" in cli("reappraise", "--agent", evan).out  # The caller rated them.
    cli("observe", "I painted the fence", "--agent", evan)
    result = cli("reappraise", "--agent", evan, "--limit", "5")
    assert result.code == 0
    assert "as before: agent" in result.out
    usage = cli("usage", "--agent", evan)
    assert "reappraise by extractive: 1 run, 0 tokens read and 0 written" in usage.out
    answer = cli("usage", "--agent", evan, "--json").json
    assert (answer["runs"], answer["tokens_per_day"]) == (1, None)
    assert "remedy" in cli("usage", "--agent", "nobody-of-that-name").err


def test_doctor_tries_the_model(cli: RunCli) -> None:
    result = cli("doctor", "--model")
    assert (result.code, "extractive can be trusted" in result.out) == (0, True)
    assert re.search(r"^ +\d+ expected 1 to 3: Cleaned up the room$", result.out, re.MULTILINE)
    answer = cli("doctor", "--model", "--json").json
    assert (answer["trusted"], answer["model"], len(answer["anchors"])) == (True, "extractive", 8)
    for arguments in ((), ("--model", "--agent", "evan")):
        refused = cli("doctor", *arguments)
        assert refused.code == 2
        assert "either --agent or --model" in refused.err
