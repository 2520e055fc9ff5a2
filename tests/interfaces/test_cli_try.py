"""``graphmem try`` as a newcomer uses it: one file, one question."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem import Memory
from tests.interfaces.conftest import RunCli

NOTES = """\
Harbour notes

The ferry comes at nine and at five, except on Sundays.
The key of the boathouse hangs behind the kitchen clock, on
the small brass hook that Rosa put there.
- Lio owes me two coils of rope
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    file = tmp_path / "notes.txt"
    file.write_text(NOTES, "utf-8")
    return file


def test_it_answers_with_the_lines_and_leaves_nothing(cli: RunCli, notes: Path, sync_memory: Memory) -> None:
    result = cli("try", str(notes), "Where is the key of the boathouse?")
    assert result.code == 0, result.err
    first, second, *_ = result.out.splitlines()
    assert "The key of the boathouse hangs behind the kitchen clock, on the small brass hook" in first
    assert second == f"  {notes}, lines 4–5"
    assert not [agent for agent in sync_memory.agents() if agent.id.startswith("try-notes-")]
    answer = cli("try", str(notes), "Who owes me coils of rope?", "--json").json
    assert (answer["known"], answer["agent_id"]) == (True, None)
    assert answer["sentences"][0]["passages"][0]["first_line"] == 6
    unknown = cli("try", str(notes), "Who discovered penicillin?")
    assert unknown.code == 0
    assert "does not say it in the words of the question" in unknown.err
    assert "line 3: The ferry" in unknown.out


def test_kept_it_can_be_asked_again(cli: RunCli, notes: Path, sync_memory: Memory) -> None:
    agent = cli("try", str(notes), "When does the ferry come?", "--keep", "--json").json["agent_id"]
    assert sync_memory.agent(agent).info().observations == 4
    again = cli("try", str(notes), "When does the ferry come?", "--keep")
    assert f"kept as agent {agent}" in again.out
    assert sync_memory.agent(agent).info().observations == 4
    sync_memory.forget_agent(agent)


@pytest.mark.parametrize(
    ("content", "told"),
    [(b" \n\n", "holds no text"), (b"\xff\xfe\x00", "is not UTF-8: byte 0xff at 1"), (b"x" * 5_000_001, "5.0 MB")],
)
def test_files_that_are_refused(content: bytes, told: str, cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    result = cli("try", str(file), "why?")
    assert (result.code, result.out) == (2, "")
    assert told in result.err
