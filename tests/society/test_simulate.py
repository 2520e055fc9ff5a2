"""A small society: who learns of the concert, who comes, and that a kill loses and doubles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from graphmem import Memory
from graphmem.errors import InvalidInput, UnknownAgent
from graphmem.interfaces.society import Society, default_society, load_society, prepare
from graphmem.models import Observation, Plan
from graphmem.models.society import Replay, Simulation, SimulationReport
from graphmem.settings import Settings
from graphmem.views.replay import replay_html

MINUTES = 20
STEPS = 33  # from 7:00 to 18:00
CONCERT = "harvest concert"


@pytest.fixture(scope="module")
def society() -> Society:
    return load_society(default_society())


def begin(memory: Memory, society: Society, **more: object) -> Simulation:
    name = f"test-{uuid4().hex[:8]}"
    agents = prepare(memory, society, name, start=society.start)
    fields = {"name": name, "agents": agents, "start": society.start, "minutes": MINUTES, "steps": STEPS}
    return Simulation.model_validate(fields | more)


@pytest.fixture(scope="module")
def lived(sync_memory: Memory, society: Society) -> tuple[SimulationReport, Replay]:
    """The village's day."""
    simulation = begin(sync_memory, society)
    report = sync_memory.simulate(simulation)
    return report, sync_memory.replay(simulation.name)


def folder(agent_id: str) -> str:
    return agent_id.rpartition("/")[2]


def heard_of_it(replay: Replay) -> dict[str, set[str]]:
    """Who heard of the concert before it, and from whom."""
    found: dict[str, set[str]] = {}
    for entry in replay.memories:
        memory = entry.memory
        if isinstance(memory, Observation) and CONCERT in memory.text and entry.heard_from:
            found.setdefault(folder(memory.agent_id), set()).update(folder(agent) for agent, _ in entry.heard_from)
    return found


@pytest.mark.slow
def test_word_of_the_concert_spreads_also_at_second_hand(lived: tuple[SimulationReport, Replay]) -> None:
    heard = heard_of_it(lived[1])
    assert heard, "nobody heard of it"
    assert any(sources - {"mara"} for sources in heard.values()), heard


@pytest.mark.slow
def test_some_come_and_for_the_others_there_is_a_reason(
    sync_memory: Memory, lived: tuple[SimulationReport, Replay]
) -> None:
    agents = lived[0].simulation.agents
    mara = next(agent for agent in agents if folder(agent) == "mara")
    found = sync_memory.diffusion("harvest-concert", from_=mara, agents=agents)
    attended = {folder(one.agent_id) for one in found.reached("attended")}
    assert "mara" in attended
    assert 1 < len(attended) < len(agents)
    assert [one.agent_id for one in found.agents if one.stage != "attended" and not one.reason] == []
    at = lived[0].simulation.start + timedelta(hours=10, minutes=40)
    there = {
        folder(step.agent_id)
        for step in lived[1].steps
        if step.at == at and (step.place or "").endswith("Heron Inn:taproom")
    }
    assert attended == there
    assert found.after.value > found.before.value


@pytest.mark.slow
def test_nobody_eats_lunch_twice(lived: tuple[SimulationReport, Replay]) -> None:
    plans = [entry.memory for entry in lived[1].memories if isinstance(entry.memory, Plan)]
    eaten = Counter(
        plan.agent_id
        for plan in plans
        if plan.kind == "step" and plan.text.startswith("eat lunch") and plan.state == "done"
    )
    assert eaten
    assert set(eaten.values()) == {1}


@pytest.mark.slow
def test_each_step_is_lived_once_and_reported(sync_memory: Memory, lived: tuple[SimulationReport, Replay]) -> None:
    report, replay = lived
    assert report.done == STEPS
    numbers = Counter((step.agent_id, step.number) for step in replay.steps)
    assert set(numbers.values()) == {1}
    assert len(numbers) == STEPS * len(report.simulation.agents)
    assert all(sum(day.rounds for day in one.rounds) >= 1 for one in report.people)
    assert report.broken  # a hut has room for one
    for agent in report.simulation.agents:
        assert sync_memory.agent(agent).check() == ()
    # Again there is nothing to do.
    again = sync_memory.simulate(report.simulation)
    assert (again.before, again.done) == (STEPS, STEPS)
    assert again.people == report.people


@pytest.mark.slow
def test_the_replay_is_one_page_with_its_grounds(lived: tuple[SimulationReport, Replay]) -> None:
    page = replay_html(lived[1])
    assert page.count("data-step=") == STEPS
    assert "heard from" in page
    assert "rests on" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "<script>" in page
    assert CONCERT in page


@pytest.mark.slow
def test_without_talk_nobody_learns_of_it(sync_memory: Memory, society: Society) -> None:
    # Up to the concert: who is there then sees it.
    simulation = begin(sync_memory, society, talk=False, steps=30)
    report = sync_memory.simulate(simulation)
    replay = sync_memory.replay(simulation.name)
    assert heard_of_it(replay) == {}
    knowing = {folder(e.memory.agent_id) for e in replay.memories if CONCERT in e.memory.text}
    assert knowing == {"mara"}
    assert sum(one.conversations for one in report.people) == 0


@pytest.mark.faults
@pytest.mark.timeout(900)
def test_killed_and_resumed_is_as_if_never_killed(
    sync_memory: Memory, society: Society, settings: Settings, lived: tuple[SimulationReport, Replay]
) -> None:
    name, steps = f"killed-{uuid4().hex[:6]}", 18
    assert settings.password is not None
    env = {
        **os.environ,
        "URI": str(settings.uri),
        "USER_NAME": settings.user,
        "PASSWORD": settings.password.get_secret_value(),
    }
    command = [sys.executable, str(Path(__file__).with_name("live.py")), name, str(steps), str(MINUTES)]
    for lines, wait in ((0, 2.0), (4, 0.05), (5, 0.4)):
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(lines):
                process.stdout.readline()
            time.sleep(wait)
            process.kill()
    subprocess.run(command, env=env, check=True, timeout=600, stdout=subprocess.DEVNULL)
    replay = sync_memory.replay(name)
    assert replay.report.done == steps
    for agent in replay.report.simulation.agents:
        assert sync_memory.agent(agent).check() == ()
        assert [run.outcome for run in sync_memory.agent(agent).runs(limit=1000) if run.outcome == "open"] == []

    def told(of: Replay) -> list[tuple[str, int, str, str | None]]:
        return [
            (folder(step.agent_id), step.number, (step.place or "").partition(":")[2], step.doing)
            for step in of.steps
            if step.number < steps
        ]

    assert told(replay) == told(lived[1])
    said = [
        sorted((folder(e.memory.agent_id), e.memory.text) for e in of.memories if e.memory.kind == "utterance"
               and e.memory.occurred_at < society.start + timedelta(minutes=MINUTES * steps))
        for of in (replay, lived[1])
    ]  # fmt: skip
    assert said[0] == said[1]


@pytest.fixture
def three(sync_memory: Memory, society: Society) -> Simulation:
    """The first steps of a day."""
    return begin(sync_memory, society, steps=3, minutes=60)


def test_a_few_steps_go_on_from_where_they_ended(sync_memory: Memory, three: Simulation) -> None:
    seen: list[int] = []
    first = sync_memory.simulate(three.model_copy(update={"steps": 2}), progress=lambda done, *_: seen.append(done))
    assert (first.done, first.before, seen) == (2, 0, [1, 2])
    second = sync_memory.simulate(three)
    assert (second.done, second.before) == (3, 2)
    for agent in three.agents:
        handle = sync_memory.agent(agent)
        assert handle.check() == ()
        assert handle.info().clock == three.end
        assert handle.whereabouts().place is not None
    # Without a choice those are looked at who lived together, whoever else is in the store.
    mara = next(agent for agent in three.agents if folder(agent) == "mara")
    found = sync_memory.diffusion("harvest-concert", from_=mara)
    assert {one.agent_id for one in found.agents} == set(three.agents)
    assert three.name in {one.name for one in sync_memory.simulations()}
    with pytest.raises(InvalidInput, match="minutes"):
        sync_memory.simulate(three.model_copy(update={"minutes": 30}))


def test_who_waited_for_another_to_simulate_goes_on_where_that_one_ended(
    sync_memory: Memory, three: Simulation
) -> None:
    two = three.model_copy(update={"steps": 2})
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(sync_memory.simulate, [two, two]))
    assert sorted((report.before, report.done) for report in reports) == [(0, 2), (2, 2)]
    assert all(sync_memory.agent(agent).check() == () for agent in two.agents)


def test_who_meets_somebody_tells_the_invitation_first(sync_memory: Memory, society: Society) -> None:
    """Two draw water at the same time; one knows of a dance, and of weightier things that concern nobody else."""
    name = f"Hollin {uuid4().hex[:6]}"
    places = [
        {"path": [name, "Square", "well"], "uses": ["draw", "water"]},
        {"path": [name, "Mill", "loft", "bed"], "uses": ["sleep"]},
        {"path": [name, "Clinic", "flat", "bed"], "uses": ["sleep"]},
    ]
    start = society.start + timedelta(hours=1, minutes=40)
    sync_memory.build_world({"name": name, "places": places}, now=start)
    water = "{} always draws water at the well from 9:00 to 10:00."
    agents: list[str] = []
    for who, home, traits in (("Petra Lind", "Mill:loft", "Miller of Hollin"), ("Omar Haddad", "Clinic:flat", "Nurse")):
        agent = sync_memory.agent(f"{name}/{who.split()[0].casefold()}")
        agent.configure(name=who, traits=traits, time_zone="Europe/London")
        agent.observe(water.format(who), id="water", importance=3, now=start - timedelta(days=1))
        agent.settle(f"{name}:{home}", knows=[f"{name}:Square"], now=start)
        agents.append(agent.id)
    petra, omar = map(sync_memory.agent, agents)
    petra.observe("The mill stones cracked, and new ones cost a year of flour.", id="stones", importance=9, now=start)
    dance = "There is a dance on the Green tonight at 19:00, everyone is invited."
    petra.observe(dance, id="dance", kind="fact", importance=8, now=start)
    sync_memory.simulate({"name": name, "agents": agents, "start": start, "minutes": 20, "steps": 4})
    found = sync_memory.diffusion("dance", from_=petra.id)
    assert [one.agent_id for one in found.reached("heard")] == agents
    said = [m for m in omar.memories() if isinstance(m, Observation) and m.kind == "utterance"]
    said.sort(key=lambda one: one.occurred_at)
    assert [one.text for one in said if one.source == "Petra Lind"][:1] == [dance]
    assert not [one.text for one in said if "planned" in one.text or " is at the " in one.text]
    assert not [m.text for m in omar.memories() if "what there is to do" in m.text]
    assert any("at the well: " in m.text for m in omar.memories())


def test_who_is_nowhere_cannot_be_simulated(sync_memory: Memory, society: Society) -> None:
    agent = sync_memory.agent(f"lost-{uuid4().hex[:6]}")
    given = {"name": agent.id, "agents": [agent.id], "start": society.start, "steps": 1}
    with pytest.raises(UnknownAgent):
        sync_memory.simulate(given)
    agent.configure(name="Lost")
    with pytest.raises(InvalidInput, match="nowhere"):
        sync_memory.simulate(given)
    with pytest.raises(InvalidInput, match="no simulation"):
        sync_memory.replay(agent.id)
