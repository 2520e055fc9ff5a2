"""``graphmem import-simulation`` as a person uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulations import second, write_person, write_simulation, write_stream

from tests.interfaces.conftest import RunCli


@pytest.fixture
def save(tmp_path: Path) -> Path:
    write_simulation(tmp_path / "save")
    return tmp_path / "save"


def test_the_report(cli: RunCli, save: Path, agent_id: str) -> None:
    result = cli("import-simulation", str(save), "--prefix", f"{agent_id}/")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    (start,) = [n for n, line in enumerate(lines) if line.startswith("Nadia Sorel →")]
    told = "\n".join(lines[start:])
    assert f"agent {agent_id}/Nadia Sorel: 60 added, 0 known; its time is 2023-04-03 15:20" in told
    assert "  47 nodes: 25 thoughts, 21 events, 1 chat\n" in told
    for kind in ("22 events", "2 facts", "3 utterances", "22 insights", "1 plan for a day", "4 plans for hours"):
        assert f" {kind}" in told
    assert "10 stale" in told
    assert "of depth 10" in told
    assert "grounds that are not in the file: 3 (node_35 → node_34, node_35 → node_900, node_37 → node_901)" in told
    assert "filler thoughts, stored where a model had failed: 2 (node_38, node_39)" in told
    assert "numbers left out of the numbering: 1 (34)" in told
    assert "57 nodes of 2 people, 83 memories (83 added, 0 known)" in told
    again = cli("import-simulation", str(save), "--prefix", f"{agent_id}/")
    assert again.code == 0
    assert "(0 added, 83 known)" in again.out


def test_the_report_as_json_tells_every_place(cli: RunCli, save: Path, agent_id: str) -> None:
    found = cli("import-simulation", str(save), "--prefix", f"{agent_id}/", "--json").json
    emil, nadia = found["people"]
    assert (emil["agent_id"], emil["name"]) == (f"{agent_id}/Emil Brandt", "Emil Brandt")
    assert (nadia["nodes"], nadia["added"], nadia["stale"]) == (47, 60, 10)
    assert nadia["rules"]["later"]["places"] == ["node_43 → node_44", "node_44 → node_44"]
    assert nadia["citations"] == nadia["citations_added"]
    assert sum(nadia["depths"].values()) == nadia["reflections"] == 22
    assert emil["heard_from_others"] == 2
    assert nadia["heard_from_others"] == 1
    tree = cli("explain", "node_35", "--agent", nadia["agent_id"])
    assert "stale because 2 grounds cannot be found" in tree.out


def test_a_node_that_cannot_be_stored_is_named_and_the_others_stay(cli: RunCli, save: Path, agent_id: str) -> None:
    emil = second()
    emil.nodes["node_3"]["description"] = " "
    write_person(save, emil)
    result = cli("import-simulation", str(save), "--prefix", f"{agent_id}/")
    assert result.code == 1
    assert "nodes that cannot be stored: 1 (node_3: text: is empty or blank)" in result.out


def test_what_is_wrong_is_told_before_anything_is_stored(cli: RunCli, save: Path, agent_id: str) -> None:
    (save / "personas" / "Nadia Sorel" / "bootstrap_memory" / "scratch.json").write_text('{"name": ')
    result = cli("import-simulation", str(save), "--prefix", f"{agent_id}/")
    assert result.code == 1
    assert "scratch.json:1:10: is not JSON" in result.err
    assert "remedy: " in result.err
    assert f"{agent_id}/" not in cli("agents", "--json").out


def test_usage(cli: RunCli, tmp_path: Path) -> None:
    assert cli("import-simulation", str(tmp_path / "none")).code == 2
    wrong = cli("import-simulation", str(tmp_path), "--time-zone", "Lake/Town")
    assert wrong.code == 2
    assert "not an IANA time zone" in wrong.err


def test_the_later_format(cli: RunCli, tmp_path: Path, agent_id: str) -> None:
    write_stream(tmp_path)
    result = cli("import-simulation", str(tmp_path), "--prefix", f"{agent_id}/")
    assert result.code == 0, result.err
    assert f"agent {agent_id}/Oda Lind: 6 added" in result.out
    assert "2 stale" in result.out
    assert cli("doctor", "--agent", f"{agent_id}/Oda Lind").code == 0
