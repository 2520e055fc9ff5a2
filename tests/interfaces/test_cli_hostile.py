"""Hostile texts on the command line and in files: stored and shown as they are, or refused in a line."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.hostile import EXAMPLES, TEXTS, can_be_kept
from tests.interfaces.conftest import RunCli, jsonl

hostile = settings(max_examples=EXAMPLES // 4, deadline=None, suppress_health_check=list(HealthCheck))


@hostile
@given(text=TEXTS, name=TEXTS)
@example(text="--agent", name="-")
@example(text="a lone \ud83e surrogate", name="n")
@example(text="-", name="'; DROP")
def test_arguments_are_values(cli: RunCli, text: str, name: str) -> None:
    agent = f"{name}{uuid4().hex}"
    good = can_be_kept(text) and can_be_kept(name)
    given_ = ("--agent", agent, "--id", name, "--source", name, "--keyword", name, "--importance", "2")
    stored = cli("observe", *given_, "--", text, stdin=text.encode("utf-8", "replace"))
    for result in (
        stored,
        cli("explain", "--agent", agent, "--", name),
        cli("about", "--agent", agent, "--", name),
        cli("retract", "--agent", agent, "--reason", text, "--", name),
        cli("history", "--agent", agent, "--", name),
    ):
        assert result.code in (0, 1, 2)
        assert "Traceback" not in result.err
        assert result.code == 0 or result.err.strip()
        assert not any(char in result.out + result.err for char in "\0\x1b\x07\u202e")
    assert (stored.code == 0) == good
    if good:
        shown = cli("memories", "--agent", agent, "--status", "retracted", "--json").json["memories"]
        kept = text.strip("\n") if text == "-" else text
        assert [(memory["text"], memory["id"], memory["source"]) for memory in shown] == [(kept, name, name)]


@pytest.mark.parametrize(
    ("text", "name"),
    [("x}) DETACH DELETE n // `\\'\"", "*:* OR ~"), ("a lone \ud83e surrogate", "n"), ("\x1b[2J\x07\u202e", "--agent")],
    ids=["syntax", "surrogate", "control"],
)
def test_arguments_of_living_and_talking_are_values(cli: RunCli, text: str, name: str) -> None:
    agent = f"lives-{uuid4().hex}"
    assert cli("observe", "The lamp is lit", "--agent", agent, "--id", "o1", "--importance", "2").code == 0
    for arguments, good in (
        (("ask", "--agent", agent, "--", text), can_be_kept(text)),
        (("react", "--agent", agent, f"--about={name}", "--", text), can_be_kept(text)),
        (("converse", agent, agent, f"--about={text}"), False),
        (("diffusion", f"--agents={agent}", "--", text), "DELETE" in text),  # A text that has words begins with itself.
        (("plan", "--agent", agent, f"--date={text}"), False),
        (("archive", "--agent", agent, f"--older-than={text}", "--importance-below", "3"), False),
        (("simulate", f"--agents={name}", f"--start={text}", "--hours", "1"), False),
        (("interview", "--agent", agent, f"--at={text}"), False),
    ):
        result = cli(*arguments)
        assert (result.code == 0) == good, (arguments, result.err)
        assert "Traceback" not in result.err
        assert result.code == 0 or result.err.strip()
        assert not any(char in result.out + result.err for char in "\0\x1b\x07\u202e")
    shown = cli("memories", "--agent", agent, "--type", "observation", "--json").json["memories"]
    assert {memory["text"] for memory in shown} == {"The lamp is lit"} | ({text} if can_be_kept(text) else set())


@hostile
@given(text=TEXTS, name=TEXTS)
@example(text="\0", name="n")
def test_lines_of_files_are_values(cli: RunCli, text: str, name: str) -> None:
    agent = f"lines-{uuid4().hex}"
    item = {"id": name, "text": text, "source": name, "place": name, "key": name, "importance": 2}
    lines = jsonl({"id": "first", "text": "first", "importance": 1}, item)
    if name == "first":
        return
    result = cli("ingest", "-", "--agent", agent, stdin=lines.encode())
    good = can_be_kept(text) and can_be_kept(name)
    assert result.code == (0 if good else 1)
    assert "Traceback" not in result.err
    shown = {m["id"]: m["text"] for m in cli("memories", "--agent", agent, "--json").json["memories"]}
    assert shown == {"first": "first"} | ({name: text} if good else {})
    assert json.dumps(shown)
