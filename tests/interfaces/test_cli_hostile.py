"""Hostile texts on the command line and in files: stored and shown as they are, or refused in a line."""

from __future__ import annotations

import json
from uuid import uuid4

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
