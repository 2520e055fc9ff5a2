"""``graphmem simulate`` and ``export-simulation`` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest
from simulations import write_simulation

from graphmem import Memory
from graphmem.interfaces.society import load_society
from tests.interfaces.conftest import RunCli

WORLD = """
name = "{name}"
start = 2026-03-02T08:00:00Z

[[place]]
path = ["{name}", "Mill", "loft", "bed"]
uses = ["sleep"]

[[place]]
path = ["{name}", "Yard", "shed"]
capacity = 1

[[person]]
id = "ada"
home = ["{name}", "Mill", "loft"]
knows = [["{name}", "Yard"]]

[[person]]
id = "bo"
home = ["{name}", "Mill", "loft"]

[[relationship]]
between = ["ada", "bo"]
text = "Ada and Bo share the loft of the mill."

[[event]]
id = "launch"
known_by = "ada"
text = "Ada launches the boat at the Yard today from 15:00 to 16:00, and everybody is invited to come."
"""


def person(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "agent.toml").write_text(f'name = "{name}"\n', "utf-8")
    line = {"id": "m1", "occurred_at": "2026-03-01T09:00:00Z", "text": f"{name} mended the sluice of the mill."}
    (folder / "day-1.jsonl").write_text(json.dumps(line) + "\n", "utf-8")


@pytest.fixture
def village(tmp_path: Path) -> Path:
    folder = tmp_path / f"village-{uuid4().hex[:6]}"
    person(folder / "ada", "Ada")
    person(folder / "bo", "Bo")
    (folder / "world.toml").write_text(WORLD.format(name=f"Mill {uuid4().hex[:6]}"), "utf-8")
    return folder


def test_a_village_lives_is_told_and_goes_on(cli: RunCli, village: Path, tmp_path: Path, sync_memory: Memory) -> None:
    report = tmp_path / "replay.html"
    arguments = ("simulate", "--seeds", str(village), "--step", "30m", "--report", str(report))
    first = cli(*arguments, "--hours", "1")
    assert first.code == 0, first.err
    assert f"Ada ({village.name}/ada): " in first.out
    assert f"simulation {village.name}: 2 steps of 30 minutes (0 of them before), " in first.out
    assert "(rounds: 0 on 2026-03-02)" in first.out
    page = report.read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("data-step=") == 2
    again = cli(*arguments, "--hours", "1.5", "--json")
    assert again.code == 0, again.err
    told = again.json
    assert (told["done"], told["before"]) == (3, 2)
    assert {one["name"] for one in told["people"]} == {"Ada", "Bo"}
    ada = sync_memory.agent(f"{village.name}/ada")
    assert ada.check() == ()
    assert ada.get("launch").text.startswith("Ada launches the boat")
    assert ada.get("knows-1").text == "Ada and Bo share the loft of the mill."
    other = cli(
        "simulate", "--world", str(village / "world.toml"), "--hours", "1", "--step", "1h", "--name", "n" + village.name
    )
    assert other.code == 0, other.err
    assert f"Bo (n{village.name}/bo): " in other.out


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('home = ["{name}", "Mill", "loft"]\nknows', "home"),
        ('id = "bo"', "is none of its people"),
        ('id = "launch"', "[[event]]: id: "),
    ],
)
def test_a_world_that_is_wrong_is_refused(cli: RunCli, village: Path, broken: str, told: str) -> None:
    file = village / "world.toml"
    text = file.read_text("utf-8")
    name = text.split('"')[1]
    file.write_text(
        text.replace(broken.format(name=name), "knows" if "knows" in broken else 'id = "cy"' if "bo" in broken else ""),
        "utf-8",
    )
    result = cli("simulate", "--seeds", str(village))
    assert result.code == 1
    assert told in result.err
    assert "remedy: " in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--step", "no time"), 2, "as in: --step 10m"),
        (("--step", "0m"), 2, "as in: --step 10m"),
        (("--hours", "0.1", "--step", "1h"), 2, "shorter than a step"),
        (("--agents", " , "), 2, "names nobody"),
        (("--agents", "nobody-at-all"), 1, "no agent 'nobody-at-all'"),
        (("--agents", "a", "--seeds", "."), 2, "only one of"),
        (("--start", "yesterday"), 2, "is not a time"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: RunCli, arguments: tuple[str, ...], code: int, told: str) -> None:
    result = cli("simulate", *arguments)
    assert result.code == code
    assert told in result.err


def test_a_save_is_imported_lives_on_and_is_exported(cli: RunCli, tmp_path: Path, agent_id: str) -> None:
    write_simulation(tmp_path / "save")
    assert cli("import-simulation", str(tmp_path / "save"), "--prefix", f"{agent_id}/").code == 0
    who = f"{agent_id}/Nadia Sorel,{agent_id}/Emil Brandt"
    lived = cli("simulate", "--agents", who, "--hours", "0.5", "--step", "30m", "--json")
    assert lived.code == 0, lived.err
    assert lived.json["done"] == 1
    assert lived.json["simulation"]["start"] == "2023-04-03T15:20:00Z"
    on = cli("simulate", "--agents", who, "--hours", "1", "--step", "30m", "--json")
    assert (on.json["done"], on.json["before"]) == (2, 1)
    out = cli("export-simulation", str(tmp_path / "out"), "--agents", who)
    assert out.code == 0, out.err
    assert "Nadia Sorel: " in out.out
    refused = cli("export-simulation", str(tmp_path / "out"), "--agents", who)
    assert refused.code == 1
    assert "holds something already" in refused.err
    read = cli("import-simulation", str(tmp_path / "out"), "--prefix", f"{agent_id}/again/")
    assert read.code == 0, read.err


def test_the_society_that_comes_with_graphmem_is_read() -> None:
    from graphmem.interfaces.society import default_society

    society = load_society(default_society())
    assert len(society.people) >= 5
    assert society.events[0].known_by == "mara"
    assert len(society.world.places) > 15
