"""Agents as a save of the published code: what was imported comes out as it went in, and lives on in between."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from simulations import DAY, LAKE, NOW, write_simulation

from graphmem import Memory
from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation import read_simulation
from graphmem.interfaces.simulation.export import write_original
from graphmem.interfaces.society import prepare_known
from graphmem.models import AgentImport
from graphmem.models.society import Simulation

RATED_BY_RULE = {"importance"}
"""The file has a rating for each node; what was rated by rule comes back with a middling one."""


@pytest.fixture
def imported(sync_memory: Memory, tmp_path: Path) -> dict[str, tuple[str, AgentImport]]:
    """By name, the agent and what was imported of it."""
    write_simulation(tmp_path / "save")
    prefix = f"out-{uuid4().hex[:6]}/"
    found: dict[str, tuple[str, AgentImport]] = {}
    people = read_simulation(tmp_path / "save", prefix=prefix)
    for person in [*people, *people]:
        sync_memory.agent(person.agent_id).import_memories(person.snapshot)
        found[person.name] = (person.agent_id, person.snapshot)
    return found


def told(given: AgentImport) -> dict[str, dict[str, Any]]:
    return {item.id: item.model_dump(exclude=RATED_BY_RULE) for item in given.memories}


def test_what_is_imported_is_exported_as_it_was(
    sync_memory: Memory, imported: dict[str, tuple[str, AgentImport]]
) -> None:
    for agent_id, given in imported.values():
        out = sync_memory.agent(agent_id).export_memories()
        assert told(out) == told(given)
        assert out.config == given.config
        assert (out.home, out.place) == (given.home, given.place)
        assert {place.path: place.last_seen_at for place in out.places} == {
            place.path: place.last_seen_at for place in given.places
        }
        assert set(out.heard) == set(given.heard)
        ratings = {item.id: item.importance for item in given.memories if item.importance is not None}
        assert {item.id: item.importance for item in out.memories if item.id in ratings} == ratings


def test_the_files_are_read_as_those_that_they_came_from(
    sync_memory: Memory, imported: dict[str, tuple[str, AgentImport]], tmp_path: Path
) -> None:
    folder = tmp_path / "again"
    written = write_original(folder, [sync_memory.agent(id_).export_memories() for id_, _ in imported.values()])
    assert all(one.left_out == 0 for one in written)
    for person in read_simulation(folder):
        given = imported[person.name][1]
        assert told(person.snapshot) == told(given)
        assert person.snapshot.config == given.config
        assert person.snapshot.importance_since_reflection == given.importance_since_reflection
        assert {place.path for place in person.snapshot.places} == {place.path for place in given.places}
        assert (person.snapshot.home, person.snapshot.place) == (given.home, given.place)
    with pytest.raises(InvalidInput, match="holds something"):
        write_original(folder, [sync_memory.agent(next(iter(imported.values()))[0]).export_memories()])


def test_an_imported_society_lives_on_and_is_exported(
    sync_memory: Memory, imported: dict[str, tuple[str, AgentImport]], tmp_path: Path
) -> None:
    ids = [id_ for id_, _ in imported.values()]
    nadia = sync_memory.agent(imported["Nadia Sorel"][0])
    assert nadia.whereabouts().place == f"{LAKE}:Boathouse:workshop"
    start = prepare_known(sync_memory, ids, start=None)
    assert start.replace(tzinfo=None) == NOW
    report = sync_memory.simulate(Simulation(name=ids[0], agents=tuple(ids), start=start, minutes=20, steps=3))
    assert report.done == 3
    assert nadia.check() == ()
    assert nadia.info().clock == start + timedelta(hours=1)
    assert nadia.ask("Who repairs lanterns?").text
    folder = tmp_path / "later"
    write_original(folder, [sync_memory.agent(id_).export_memories() for id_ in ids])
    later = {person.name: person for person in read_simulation(folder)}
    clock = later["Nadia Sorel"].snapshot.config.clock
    assert clock is not None
    assert clock.replace(tzinfo=None) == NOW + timedelta(hours=1)
    before, after = told(imported["Nadia Sorel"][1]), told(later["Nadia Sorel"].snapshot)
    observed = {id_ for id_, item in before.items() if item["type"] != "plan"}
    assert observed <= set(after)
    assert all(item["occurred_at"].replace(tzinfo=None) >= DAY for item in after.values())
