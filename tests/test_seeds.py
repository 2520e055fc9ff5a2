"""Reading stories from files: what comes with graphmem, and what is refused with its file and line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.errors import InvalidInput
from graphmem.interfaces.seeds import Seeds, default_folder, load_seeds
from graphmem.interfaces.society import load_society

FIRST = '{"id": "a", "occurred_at": "2026-06-12T06:05:00+01:00", "text": "Lit the lamp."}\n'
SECOND = '{"id": "b", "occurred_at": "2026-06-12T07:05:00+01:00", "importance": 4, "text": "Put it out."}\n'
CHANGES = """
[[ask]]
agent = "mara"
query = "What about the lamp?"
at = 2026-06-13T07:00:00+01:00

[[change]]
agent = "mara"
memory = "a"
at = 2026-06-13T08:00:00+01:00
reason = "it was the other one"
text = "Lit the lantern."
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small folder with nothing wrong."""
    home = tmp_path / "stories" / "mara"
    home.mkdir(parents=True)
    (home / "agent.toml").write_text('name = "Mara"\n')
    (home / "day-1.jsonl").write_text(FIRST + SECOND)
    (home.parent / "changes.toml").write_text(CHANGES)
    return home.parent


def test_reads_agents_days_and_changes(folder: Path) -> None:
    day = FIRST.replace('"a"', '"c"').replace("06-12", "06-13")
    for number in (10, 2):
        (folder / "mara" / f"day-{number}.jsonl").write_text(day.replace('"c"', f'"c{number}"'))
    seeds = load_seeds(folder)
    (mara,) = seeds.agents
    assert (mara.id, mara.name) == ("mara", "Mara")
    assert [day.name for day in mara.days] == ["day-1", "day-2", "day-10"]
    assert mara.days[0].ends == datetime(2026, 6, 12, 6, 5, tzinfo=UTC)
    assert list(mara.observations) == ["a", "b", "c2", "c10"]
    assert mara.observations["b"].importance == 4
    assert (seeds.asks[0].k, seeds.asks[0].at) == (5, datetime(2026, 6, 13, 6, tzinfo=UTC))
    assert (seeds.changes[0].memory, seeds.changes[0].mode) == ("a", "correction")


def test_changes_may_be_left_out(folder: Path) -> None:
    (folder / "changes.toml").unlink()
    seeds = load_seeds(folder)
    assert (seeds.asks, seeds.changes) == ((), ())


def test_a_line_without_id_gets_one_from_its_content(folder: Path) -> None:
    day = folder / "mara" / "day-2.jsonl"
    day.write_text(FIRST.replace('"id": "a", ', ""))
    (before,) = load_seeds(folder).agents[0].days[1].observations
    day.write_text("\n" + FIRST.replace('"id": "a", ', ""))
    (after,) = load_seeds(folder).agents[0].days[1].observations
    assert before.id
    assert before.id == after.id


NO_ZONE = FIRST.replace("+01:00", "")
REFUSED = {
    "no JSON": ("mara/day-1.jsonl", FIRST + "{\n", "day-1.jsonl:2: is not JSON"),
    "no object": ("mara/day-1.jsonl", "[]\n", "day-1.jsonl:1: is not a JSON object"),
    "unknown field": ("mara/day-1.jsonl", FIRST.replace("text", "txt"), "day-1.jsonl:1: "),
    "blank text": ("mara/day-1.jsonl", FIRST.replace("Lit the lamp.", " "), "day-1.jsonl:1: text: is empty"),
    "no zone": ("mara/day-1.jsonl", FIRST + "\n" + NO_ZONE, "day-1.jsonl:3: occurred_at: "),
    "no time": ("mara/day-1.jsonl", '{"text": "Lit the lamp."}\n', "day-1.jsonl:1: occurred_at: is missing"),
    "importance": ("mara/day-1.jsonl", SECOND.replace("4", "11", 1), "day-1.jsonl:1: importance: "),
    "id twice": ("mara/day-2.jsonl", FIRST, "day-2.jsonl:1: id: 'a' is taken by "),
    "empty day": ("mara/day-2.jsonl", "\n", "day-2.jsonl: holds no observation"),
    "no TOML": ("mara/agent.toml", "name = Mara", "agent.toml: is not TOML: "),
    "unknown key": ("mara/agent.toml", 'nmae = "Mara"', "agent.toml:1: nmae: "),
    "time zone": ("mara/agent.toml", 'time_zone = "Skerrow"', "agent.toml:1: time_zone: 'Skerrow'"),
    "threshold": ("mara/agent.toml", "reflection_threshold = 0", "agent.toml:1: reflection_threshold: "),
    "unknown table": ("changes.toml", "[[chnage]]\n", "changes.toml: chnage: is neither"),
    "single brackets": ("changes.toml", "[ask]\n", "changes.toml: ask: write [[ask]]"),
    "unknown agent": ("changes.toml", CHANGES.replace("mara", "maria", 1), "changes.toml:2: agent: there is no"),
    "unknown memory": ("changes.toml", CHANGES.replace('"a"', '"z"'), "changes.toml:7: memory: mara has no"),
    "no reason": ("changes.toml", CHANGES.replace("reason =", "# reason ="), "changes.toml:7: reason: "),
    "no zone in changes": ("changes.toml", CHANGES.replace("08:00:00+01:00", "08:00:00"), "changes.toml:7: at: "),
    "changed twice": (
        "changes.toml",
        CHANGES + CHANGES[CHANGES.index("[[change]]") :],
        "changes.toml:13: memory: 'a' is superseded by ",
    ),
}


@pytest.mark.parametrize(("file", "content", "told"), REFUSED.values(), ids=REFUSED)
def test_refuses_with_file_and_line(folder: Path, file: str, content: str, told: str) -> None:
    (folder / file).write_text(content)
    with pytest.raises(InvalidInput) as refused:
        load_seeds(folder)
    message = str(refused.value)
    assert message.startswith(str(folder))
    assert told in message


def test_refuses_a_folder_that_is_none(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no folder .*nowhere"):
        load_seeds(folder / "nowhere")


def test_refuses_a_folder_without_agents(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no folder of an agent"):
        load_seeds(tmp_path)


@pytest.mark.parametrize(
    ("missing", "told"),
    [("agent.toml", "no file .*agent.toml"), ("day-1.jsonl", "mara: holds no day-1.jsonl")],
)
def test_refuses_an_agent_without_its_files(folder: Path, missing: str, told: str) -> None:
    (folder / "mara" / missing).unlink()
    with pytest.raises(InvalidInput, match=told):
        load_seeds(folder)


def test_refuses_utf_16(folder: Path) -> None:
    (folder / "mara" / "day-1.jsonl").write_text(FIRST, encoding="utf-16")
    with pytest.raises(InvalidInput, match=r"day-1\.jsonl: the file is UTF-16"):
        load_seeds(folder)


WORLD = """name = "Hollin"
start = 2026-05-04T07:00:00+01:00
time_zone = "Europe/London"

[[place]]
path = ["Hollin", "Mill", "loft", "bed"]
uses = ["sleep"]

[[place]]
path = ["Hollin", "Clinic"]
hours = ["Mon-Fri 09:00-17:00"]
staff = ["mara"]

[[person]]
id = "mara"
home = ["Hollin", "Mill", "loft"]

[[event]]
id = "dance"
known_by = "mara"
text = "A dance tonight, everyone is invited."
importance = 8
"""
WRONG_WORLDS = {
    "unknown field": ("uses", "uzes", "7: [[place]]: uzes: "),
    "hours of a thing": (
        "uses = ",
        'hours = ["08:00-10:00"]\nuses = ',
        "7: [[place]]: hours: 'bed' is a thing in a room",
    ),
    "staff of a thing": ("uses = ", 'staff = ["mara"]\nuses = ', "7: [[place]]: staff: 'bed' is a thing in a room"),
    "capacity of a thing": ("uses = ", "capacity = 2\nuses = ", "7: [[place]]: capacity: 'bed' is a thing in a room"),
    "state of a house": ("staff = ", 'state = "cold"\nstaff = ', "12: [[place]]: state: 'Clinic' is a house"),
    "no hours": ("Mon-Fri 09", "Mun-Fri 09", "11: [[place]]: hours: 'Mun' is none of mon"),
    "zone": ("Europe/London", "Skerrow", "3: time_zone: 'Skerrow' is not"),
    "no zone": ("+01:00", "", "2: start: "),
    "missing": ('known_by = "mara"\n', "", "18: [[event]]: known_by: "),
    "importance": ("importance = 8", "importance = 18", "22: [[event]]: importance: "),
    "home": ('home = ["Hollin", "Mill", "loft"]', "home = 3", "16: [[person]]: home: "),
    "nobody": ('known_by = "mara"', 'known_by = "mira"', "20: 'mira' is none of its people"),
    "no staff": ('staff = ["mara"]', 'staff = ["mira"]', "12: staff: 'mira' is none of its people"),
    "unknown table": ("[[event]]", "[[evnt]]", "18: evnt: is none of event"),
    "unknown key": ("start =", "strt =", "2: strt: is none of event"),
    "single brackets": ("[[event]]", "[event]", " event: write [[event]]"),
    "no TOML": ("[[event]]", "[[event", " is not TOML: "),
}


@pytest.mark.parametrize(("before", "after", "told"), WRONG_WORLDS.values(), ids=WRONG_WORLDS)
def test_a_world_is_refused_with_file_and_line(folder: Path, before: str, after: str, told: str) -> None:
    file = folder / "world.toml"
    file.write_text(WORLD)
    assert load_society(folder).name == folder.name
    assert WORLD.count(before) >= 1
    file.write_text(WORLD.replace(before, after, 1))
    with pytest.raises(InvalidInput) as refused:
        load_society(folder)
    assert str(refused.value).startswith(f"{file}:{told}"), str(refused.value)


@pytest.fixture(scope="module")
def shipped() -> Seeds:
    """The stories that come with graphmem."""
    return load_seeds(default_folder())


def test_two_agents_live_two_days(shipped: Seeds) -> None:
    assert len(shipped.agents) == 2
    for agent in shipped.agents:
        assert len(agent.days) == 2
        assert 40 <= len(agent.observations) <= 70
        assert agent.config.traits
        for day in agent.days:
            times = [item.occurred_at for item in day.observations if item.occurred_at is not None]
            assert times == sorted(times)
            assert len({time.astimezone(UTC).date() for time in times}) == 1


def test_what_happens_afterwards_comes_after_the_days(shipped: Seeds) -> None:
    assert shipped.asks
    ends = {agent.id: agent.days[-1].ends for agent in shipped.agents}
    for entry in (*shipped.asks, *shipped.changes):
        assert entry.at > ends[entry.agent]
    assert {change.agent for change in shipped.changes} == set(ends)
    assert {change.mode for change in shipped.changes} == {"correction", "update"}
