"""``graphmem export`` and ``graphmem import`` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interfaces.conftest import RunCli


def test_there_and_back_by_file_and_by_pipe(cli: RunCli, evan: str, tmp_path: Path) -> None:
    file = tmp_path / "evan.jsonl"
    told = cli("export", "--agent", evan, "--output", str(file), "--json")
    assert told.code == 0, told.err
    assert (told.json["agents"], told.json["memories"]) == ([evan], 4)
    first = cli("import", str(file), "--prefix", "a/", "--json")
    assert (first.code, first.json["agents"], first.json["memories"]) == (0, [f"a/{evan}"], 4)
    again = cli("import", str(file), "--prefix", "a/")
    assert (again.code, again.complaints) == (0, "")
    assert again.out.startswith(f"nothing to do: this file was imported before, as a/{evan}, into database ")
    piped = cli("export", "--agent", f"a/{evan}")
    assert piped.code == 0
    assert "exported 1 agent with 4 memories" in piped.err
    assert [json.loads(line)["type"] for line in piped.out.splitlines()][:2] == ["head", "agent"]
    back = cli("import", "-", "--prefix", "b/", stdin=piped.out.encode())
    assert (back.code, "4 memories" in back.out) == (0, True), back.err
    assert cli("memories", "--agent", f"b/a/{evan}", "--json").json["memories"][0]["id"] == "D1:1"


def test_of_agents_that_are_partly_there_what_is_new_is_told_and_what_is_not(
    cli: RunCli, kits: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "both.jsonl"
    assert cli("export", "--agent", kits[0], "--agent", kits[1], "--output", str(file)).code == 0
    assert "2 agents with 2 memories" in cli("import", str(file), "--prefix", "a/").out
    assert cli("forget", "--agent", f"a/{kits[1]}", "--yes").code == 0
    again = cli("import", str(file), "--prefix", "a/")
    assert again.code == 0
    assert again.out.startswith("1 agent with 1 memory, ")
    assert again.out.count("\n") == 1
    assert again.complaints == f"imported before, and left as they are: a/{kits[0]}\n"


def test_what_is_refused_is_told_in_a_line_with_a_remedy(cli: RunCli, evan: str, tmp_path: Path) -> None:
    file = tmp_path / "evan.jsonl"
    assert cli("export", "--agent", evan, "--output", str(file)).code == 0
    for arguments, words in (
        (("export", "--agent", evan, "--output", str(file)), "is there already"),
        (("export", "--agent", "nobody", "--output", str(tmp_path / "no.jsonl")), "there is no agent 'nobody'"),
        (("export", "--agent", evan, "--json"), "--json tells about a file"),
        (("import", str(file)), "remembers something already"),
        (("import", __file__), "is not an export of graphmem"),
    ):
        refused = cli(*arguments)
        assert refused.code == 1
        assert words in refused.err
        assert "remedy: " in refused.err
        assert refused.out == ""
