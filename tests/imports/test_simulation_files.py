"""Reading saves: what each odd thing becomes, and errors that name the file and the place in it. No database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulations import NOW, STREAM, Person, second, write, write_person, write_simulation, write_stream

from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation import RULES, read_simulation
from graphmem.interfaces.simulation import person as people
from graphmem.interfaces.simulation.fields import is_filler
from graphmem.interfaces.simulation.report import depths_of
from graphmem.models import ImportedReflection


def nadia(folder: Path, **options: Any) -> people.Person:
    (found,) = [person for person in read_simulation(folder, **options) if person.name == "Nadia Sorel"]
    return found


def item(person: people.Person, id_: str) -> Any:
    return next(item for item in person.items if item.id == id_)


def test_each_fault_has_its_line_with_the_place(tmp_path: Path) -> None:
    write_simulation(tmp_path)
    person = nadia(tmp_path)
    assert person.notes == {
        "gaps": ["34"],
        "dangling": ["node_35 → node_34", "node_35 → node_900", "node_37 → node_901"],
        "fillers": ["node_38", "node_39"],
        "evidence_type": ["node_40", "node_41 → 3", "node_41 → null"],
        "no_evidence": ["node_42"],
        "later": ["node_43 → node_44", "node_44 → node_44"],
        "importance": ["node_47", "node_48"],
        "names": ["node_48", "node_48"],
    }
    assert set(person.notes) <= set(RULES)
    lacking = {found.id: found.missing_grounds for found in person.reflections if found.missing_grounds}
    assert lacking == {
        "node_35": ("node_34", "node_900"),
        "node_37": ("node_901",),
        "node_38": ("node_1",),
        "node_39": ('["node_21"]',),
        "node_40": ("node_4",),
        "node_41": ("3", "null"),
        "node_42": ("(nothing is named)",),
        "node_43": ("node_44",),
        "node_44": ("node_44",),
    }
    assert item(person, "node_35").evidence == item(person, "node_41").evidence == ("node_21",)
    assert item(person, "node_38").evidence == item(person, "node_39").evidence == ()


def test_depths_beside_those_of_the_file(tmp_path: Path) -> None:
    write_simulation(tmp_path)
    depths = depths_of(nadia(tmp_path))
    chain = [found for found in depths.ours if 22 <= int(found.removeprefix("node_")) <= 31]
    assert [depths.ours[found] for found in chain] == list(range(1, 11))
    assert [depths.file[found] for found in chain] == list(range(2, 12))  # What was given counts there.
    assert set(chain) <= set(depths.differing)
    assert set(chain) <= depths.explained


@pytest.mark.parametrize(
    ("text", "filler"),
    [
        ("this is blank", True),
        ("This is blank.", False),
        ("...", True),
        ("", True),
        ("For Jo Ko's planning: ...", True),
        ("For Jo Ko's planning: remember the boat", False),
        ("Jo Ko ...", True),
        ("Jo Ko …", True),
        ("Jo Ko is here ...", False),
        ("For Al's planning: ...", False),
    ],
)
def test_what_a_filler_is(text: str, filler: bool) -> None:
    assert is_filler(text, "Jo Ko") is filler


# --- times ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scratch", "meta", "clock", "noted"),
    [
        ("April 03, 2023, 15:20:00", None, NOW, False),
        (None, "April 03, 2023, 15:20:00", NOW, False),
        ("April 03, 2003, 15:20:00", None, NOW, True),
        ("April 03, 2043, 15:20:00", None, NOW, True),
        ("April 05, 2023, 00:00:10", None, datetime(2023, 4, 5, 0, 0, 10), False),  # noqa: DTZ001
        ("February 29, 2024, 10:00:00", None, datetime(2023, 4, 3, 11, 55), True),  # noqa: DTZ001
        ("January 01, 2023, 10:00:00", None, datetime(2023, 4, 3, 11, 55), True),  # noqa: DTZ001
        ("soon", None, datetime(2023, 4, 3, 11, 55), True),  # noqa: DTZ001
        (None, None, datetime(2023, 4, 3, 11, 55), True),  # noqa: DTZ001
    ],
)
def test_the_clock(tmp_path: Path, scratch: str | None, meta: str | None, clock: datetime, noted: bool) -> None:
    write_simulation(tmp_path)
    _, emil = read_people(tmp_path, lambda person: person.scratch.update(curr_time=scratch))
    write(tmp_path / "reverie" / "meta.json", {"curr_time": meta})
    (person, _) = read_simulation(tmp_path)
    assert person.snapshot.config.clock == max(clock, newest(emil)).replace(tzinfo=UTC)
    assert ("clock" in person.notes) is noted


def read_people(folder: Path, change: Callable[[Person], object]) -> tuple[list[people.Person], Person]:
    """The save with another second person, and that person."""
    person = second()
    change(person)
    write_person(folder, person)
    return read_simulation(folder), person


def newest(person: Person) -> datetime:
    return max(datetime.fromisoformat(node["created"]) for node in person.nodes.values())


def test_times_are_read_in_the_zone_given(tmp_path: Path) -> None:
    write_simulation(tmp_path)
    person = nadia(tmp_path, time_zone="Europe/Helsinki")
    assert person.snapshot.config.time_zone == "Europe/Helsinki"
    assert item(person, "node_4").occurred_at == datetime(2023, 4, 3, 4, 10, tzinfo=UTC)
    assert person.snapshot.config.clock == datetime(2023, 4, 3, 12, 20, tzinfo=UTC)
    assert person.snapshot.origin != nadia(tmp_path).snapshot.origin


# --- values of any kind -----------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["\ud800", "\0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted(next(iter(second().nodes.values())))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(field=st.sampled_from(FIELDS), position=st.integers(1, 10), value=JSON)
@pytest.mark.report("B12")
def test_no_value_of_a_node_stops_the_import(tmp_path: Path, field: str, position: int, value: Any) -> None:
    """Whatever stands in one field, the other nodes come in, and the reading is one that can be stored."""
    person = second()
    person.nodes[f"node_{position}"][field] = value
    write_simulation(tmp_path)
    write_person(tmp_path, person)
    found, _ = read_simulation(tmp_path)
    kept = {item.id for item in found.items} & person.nodes.keys()
    lost = len(found.notes.get("left_out", []))
    assert len(kept) + lost == len(person.nodes)
    assert lost <= 1
    stored = found.snapshot.model_dump_json()  # Fails on what could not be encoded, as the database would.
    assert "\\u0000" not in stored.replace("\\\\u0000", "")
    for thought in found.items:
        if isinstance(thought, ImportedReflection) and thought.id != f"node_{position}":
            named = person.nodes[thought.id]["filling"]
            assert sorted([*thought.evidence, *thought.missing_grounds]) == sorted(named)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(second().scratch)), value=JSON)
def test_no_value_in_scratch_stops_the_import(tmp_path: Path, name: str, value: Any) -> None:
    write_simulation(tmp_path)
    read, _ = read_people(tmp_path, lambda person: person.scratch.update({name: value}))
    assert len([item for item in read[0].items if item.id.startswith("node_")]) == 13


def test_a_schedule_with_entries_that_are_none(tmp_path: Path) -> None:
    write_simulation(tmp_path)
    odd = [["sleeping", 60], ["pad", 0], ["back", -5], "row", ["row"], ["row", "long"], [" ", 5], ["resting", 30]]
    (person, _), _ = read_people(tmp_path, lambda person: person.scratch.update(f_daily_schedule=odd))
    steps = [item for item in person.items if item.type == "plan" and item.kind == "step"]
    assert [(step.text, f"{step.start:%H:%M}", f"{step.end:%H:%M}") for step in steps] == [
        ("sleeping", "00:00", "01:00"),
        ("resting", "01:05", "01:35"),
    ]
    assert person.notes["no_time"] == ["f_daily_schedule[1]"]
    assert person.notes["schedule"] == [f"f_daily_schedule[{n}]" for n in (2, 3, 4, 5, 6)]


# --- files ------------------------------------------------------------------------------------------------------

NODES = "personas/Emil Brandt/bootstrap_memory/associative_memory/nodes.json"
BROKEN: dict[str, tuple[str, bytes | None, str]] = {
    "missing": (NODES, None, r"there is no file .*nodes\.json"),
    "cut off": (NODES, b'{"node_1": {"type": "ev', r"nodes\.json:1:\d+: is not JSON"),
    "a line": (NODES, b'{"node_1": {},\n\n "node_2" {}}', r"nodes\.json:3:11: is not JSON"),
    "UTF-16": (NODES, "{}".encode("utf-16"), r"nodes\.json is not UTF-8: byte 0xff at 1"),
    "a list": (NODES, b"[]", r"nodes\.json: holds a list, not an object"),
    "twice": (NODES, b'{"node_1": {}, "node_1": {}}', r"nodes\.json: 'node_1' is given twice"),
    "nested": (NODES, b'{"a":' * 100_000, r"nodes\.json: .*beyond all bounds"),
    "no meta": ("reverie/meta.json", None, r"there is no file .*meta\.json"),
    "no scratch": ("personas/Emil Brandt/bootstrap_memory/scratch.json", None, r"there is no file .*scratch\.json"),
    "no places": ("personas/Emil Brandt/bootstrap_memory/spatial_memory.json", b"3", r"memory\.json: holds a number"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_named_with_the_place_and_a_remedy(tmp_path: Path, what: str) -> None:
    name, content, message = BROKEN[what]
    write_simulation(tmp_path)
    file = tmp_path / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(InvalidInput, match=message) as caught:
        read_simulation(tmp_path)
    assert caught.value.remedy


def test_what_is_no_save(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no saved simulation"):
        read_simulation(tmp_path)
    (tmp_path / "personas").mkdir()
    write(tmp_path / "reverie" / "meta.json", {})
    with pytest.raises(InvalidInput, match="holds nobody"):
        read_simulation(tmp_path)


def test_two_people_of_one_name(tmp_path: Path) -> None:
    write_simulation(tmp_path)
    (tmp_path / "personas" / "Emil Brandt").rename(tmp_path / "personas" / "Emil")
    write_person(tmp_path, second())
    with pytest.raises(InvalidInput, match="two people are called 'Emil Brandt'"):
        read_simulation(tmp_path)


def test_a_person_at_the_very_start(tmp_path: Path) -> None:
    """As in the bases that simulations begin from: nobody has seen anything, and no time is set."""
    person = Person("Emil Brandt", scratch={"name": "Emil Brandt", "curr_time": None})
    write_person(tmp_path, person)
    write(tmp_path / "reverie" / "meta.json", {"curr_time": "April 03, 2023, 00:00:00"})
    (found,) = read_simulation(tmp_path)
    assert (found.nodes, found.items) == (0, [])
    assert found.snapshot.config.clock == datetime(2023, 4, 3, tzinfo=UTC)


# --- the later format -------------------------------------------------------------------------------------------


def test_the_later_format(tmp_path: Path) -> None:
    write_stream(tmp_path)
    (oda,) = read_simulation(tmp_path)
    assert oda.name == "Oda Lind"
    assert oda.notes == {"gaps": ["4"], "dangling": ["nodes[4] → 4"], "no_evidence": ["nodes[5]"]}
    assert [found.text for found in oda.items] == [node["content"] for node in STREAM]
    assert [found.importance for found in oda.items] == [3, 8, 7, 10, 1, 4]
    assert {found.id: found.evidence for found in oda.reflections} == {
        "node_2": ("node_0", "node_1"),
        "node_3": ("node_2",),
        "node_5": ("node_1",),
        "node_6": (),
    }
    assert depths_of(oda).ours == {"node_2": 1, "node_3": 2, "node_5": 1, "node_6": 1}
    assert oda.snapshot.config.clock == datetime(2000, 1, 1, 5, tzinfo=UTC)
    assert "town: Nordby" in (oda.snapshot.config.traits or "")
    assert json.loads(oda.items[0].file_rest or "")["last_retrieved"] == 2


def test_a_folder_of_agents_in_the_later_format(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_stream(tmp_path / name)
        write(tmp_path / name / "scratch.json", {"first_name": name})
    assert [person.name for person in read_simulation(tmp_path)] == ["one", "two"]
