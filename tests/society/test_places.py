"""Places: a world, what agents know of it, what they perceive where they are, and acting in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput
from graphmem.models.places import open_at

NOW = datetime(2026, 6, 12, 9, 0, tzinfo=UTC)  # a Friday
MINUTE = timedelta(minutes=1)
New = Callable[..., Any]


@pytest.fixture
async def town(memory: AsyncMemory) -> str:
    """A town of its own: two houses, a bakery that is open from 10 to 12, a bath for one."""
    name = f"Town {uuid4().hex[:6]}"
    await memory.build_world(
        {
            "name": name,
            "places": [
                {"path": [name, "Red house", "room", "bed"], "uses": ["sleep"]},
                {"path": [name, "Red house", "bath"], "capacity": 1, "uses": ["wash"]},
                {"path": [name, "Blue house", "room", "bed"], "uses": ["sleep"]},
                {"path": [name, "Bakery"], "hours": ["10:00-12:00"]},
                {"path": [name, "Bakery", "shop", "oven"], "uses": ["bake"], "state": "cold"},
                {"path": [name, "Green", "lawn"], "uses": ["walk"]},
            ],
        },
        now=NOW,
    )
    return name


async def plans(agent: AsyncAgent, text: str, *, at: datetime = NOW) -> None:
    """The agent has an appointment now, and so a plan."""
    await agent.react(f"Come and {text}!", now=at)


async def test_world_is_built_once_and_keeps_its_states(memory: AsyncMemory, town: str) -> None:
    before = await memory.world(town)
    assert [place.kind for place in before if place.path == f"{town}:Bakery:shop:oven"] == ["object"]
    again = await memory.build_world({"name": town, "places": [{"path": [town, "Green", "pond"]}]}, now=NOW)
    assert len(again) == len(before) + 1
    oven = next(place for place in again if place.name == "oven")
    assert (oven.state, oven.rest, oven.uses) == ("cold", "cold", ("bake",))


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": ["Elsewhere", "house"]},
        {"path": ["W", "a:b"]},
        {"path": ["W", "shop"], "hours": ["25:00-26:00"]},
        {"path": ["W", "shop"], "hours": ["Foo 08:00-10:00"]},
        {"path": ["W", "shop"], "hours": ["08:00-08:00"]},
        {"path": ["W", "shop"], "capacity": 0},
        {"path": ["W", "shop", "room", "desk"], "hours": ["08:00-10:00"]},
        {"path": ["W", "shop", "room"], "state": "cold"},
        {"path": ["W"], "capacity": 3},
        {"path": ["W", "a", "b", "c", "d"]},
    ],
)
async def test_a_world_that_makes_no_sense_is_refused(memory: AsyncMemory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await memory.build_world({"name": "W", "places": [wrong]})
    assert await memory.world("W") == ()


@pytest.mark.parametrize(
    ("hours", "open_"),
    [
        ((), True),
        (("08:00-10:00",), True),
        (("09:01-10:00",), False),
        (("08:00-09:00",), False),
        (("Fri 08:00-10:00",), True),
        (("Sat-Thu 08:00-10:00",), False),
        (("Thu 22:00-09:30",), True),
        (("Fri 22:00-09:30",), False),
        (("Thu-Sat 00:00-24:00",), True),
    ],
)
def test_opening_hours(hours: tuple[str, ...], open_: bool) -> None:
    assert open_at(hours, NOW, ZoneInfo("UTC")) is open_


async def test_an_agent_knows_what_it_is_told_and_what_it_sees(agent: AsyncAgent, town: str) -> None:
    told = await agent.settle(f"{town}:Red house:room", knows=[f"{town}:Bakery"], now=NOW)
    known = {place.path: place for place in await agent.places()}
    assert told.knows == len(known) == 7
    assert all(place.last_seen_at is None for place in known.values())
    assert f"{town}:Green" not in known
    assert f"{town}:Blue house" not in known
    await agent.perceive(now=NOW)
    known = {place.path: place for place in await agent.places()}
    seen = {path for path, place in known.items() if place.last_seen_at == NOW}
    assert seen == {town, f"{town}:Red house", f"{town}:Red house:room", f"{town}:Red house:room:bed"}


async def test_what_changes_elsewhere_is_not_known_until_it_is_seen(
    memory: AsyncMemory, agent: AsyncAgent, new_agent: New, town: str
) -> None:
    baker = new_agent()
    oven = f"{town}:Bakery:shop:oven"
    for one, home in ((agent, "Red house"), (baker, "Blue house")):
        await one.settle(f"{town}:{home}:room", knows=[f"{town}:Bakery"], now=NOW)
    await plans(baker, "bake at 10:00 today", at=NOW + 30 * MINUTE)
    at = NOW + 60 * MINUTE
    did = await baker.act(at)
    assert did.object == oven
    assert {place.path: place.state for place in await memory.world(town)}[oven] != "cold"
    known = {place.path: place for place in await agent.places()}
    assert (known[oven].state, known[oven].last_seen_at) == (None, None)
    await agent.perceive(now=at)
    assert {place.path: place for place in await agent.places()}[oven].last_seen_at is None


async def test_unchanged_is_not_stored_again(agent: AsyncAgent, new_agent: New, town: str) -> None:
    other = new_agent()
    for one in (agent, other):
        await one.settle(f"{town}:Red house:room", now=NOW)
    await plans(other, "sleep at 9:10 today")
    await other.act(NOW + 10 * MINUTE)
    first = await agent.perceive(now=NOW + 10 * MINUTE)
    assert first.people == (other.id,)
    assert len(first.new) == 2  # who does it, and the bed
    again = await agent.perceive(now=NOW + 20 * MINUTE)
    assert again.new == ()
    assert again.unchanged == 2
    assert len(await agent.memories(type="observation")) == 2
    # After a break the same look tells the same.
    assert (await agent.perceive(now=NOW + 10 * MINUTE)).new == first.new


async def test_norms_are_counted(memory: AsyncMemory, agent: AsyncAgent, new_agent: New, town: str) -> None:
    other = new_agent()
    for one in (agent, other):
        await one.settle(f"{town}:Red house:room", knows=[f"{town}:Red house"], now=NOW)
        await plans(one, "wash at 9:10 today")
    first = await agent.act(NOW + 10 * MINUTE)
    second = await other.act(NOW + 10 * MINUTE)
    assert (first.place, first.broken) == (f"{town}:Red house:bath", ())
    assert [(norm.norm, norm.others) for norm in second.broken] == [("room full", (agent.id,))]


async def test_closed_places_are_not_entered_by_who_knows_their_hours(agent: AsyncAgent, town: str) -> None:
    await agent.settle(f"{town}:Red house:room", knows=[f"{town}:Bakery"], now=NOW)
    await plans(agent, "bake at 9:30 today")
    assert (await agent.act(NOW + 30 * MINUTE)).place == f"{town}:Red house:room"
    await plans(agent, "bake at 10:30 today", at=NOW + 40 * MINUTE)
    assert (await agent.act(NOW + 90 * MINUTE)).place == f"{town}:Bakery:shop"


async def test_who_is_in_a_place_when_it_closes_goes_home(agent: AsyncAgent, town: str) -> None:
    await agent.settle(f"{town}:Red house:room", knows=[f"{town}:Bakery"], now=NOW)
    await plans(agent, "bake from 10:30 to 14:00 today")
    assert (await agent.act(NOW + 90 * MINUTE)).place == f"{town}:Bakery:shop"
    late = await agent.act(NOW + 185 * MINUTE)
    assert (late.place, late.broken) == (f"{town}:Red house:room", ())


async def test_a_house_of_one_room_that_is_closed_is_not_entered(
    memory: AsyncMemory, agent: AsyncAgent, town: str
) -> None:
    surgery = [town, "Clinic", "surgery"]
    await memory.build_world({"name": town, "places": [{"path": surgery, "hours": ["10:00-12:00"]}]}, now=NOW)
    await agent.settle(f"{town}:Red house:room", knows=[f"{town}:Clinic"], now=NOW)
    await plans(agent, "wait at the Clinic at 9:30 today")
    assert (await agent.act(NOW + 30 * MINUTE)).place == f"{town}:Red house:room"


async def test_to_begin_something_in_a_closed_place_breaks_its_norm(
    memory: AsyncMemory, agent: AsyncAgent, town: str
) -> None:
    """It was never told the hours, which were given while it was in."""
    await agent.settle(f"{town}:Red house:room", knows=[f"{town}:Green"], now=NOW)
    await plans(agent, "walk at 9:30 today")
    assert (await agent.act(NOW + 30 * MINUTE)).place == f"{town}:Green:lawn"
    lawn = {"path": [town, "Green", "lawn"], "hours": ["08:00-10:00"]}
    await memory.build_world({"name": town, "places": [lawn]}, now=NOW)
    await plans(agent, "sing at 10:40 today", at=NOW + 95 * MINUTE)
    did = await agent.act(NOW + 100 * MINUTE)
    assert did.place == f"{town}:Green:lawn"
    assert [norm.norm for norm in did.broken] == ["closed"]


async def test_a_name_that_begins_like_another_is_another_house(
    memory: AsyncMemory, agent: AsyncAgent, town: str
) -> None:
    """Who lives in the Bakery Cottage is not at home in the Bakery."""
    cottage = {"path": [town, "Bakery Cottage", "room", "bed"], "uses": ["sleep"]}
    await memory.build_world({"name": town, "places": [cottage]}, now=NOW)
    await agent.settle(f"{town}:Bakery Cottage:room", knows=[f"{town}:Bakery"], now=NOW)
    await plans(agent, "bake at 9:30 today")
    assert (await agent.act(NOW + 30 * MINUTE)).place == f"{town}:Bakery Cottage:room"


async def test_one_is_in_a_room_but_at_a_well(agent: AsyncAgent, new_agent: New, town: str) -> None:
    other = new_agent()
    await other.configure(name="Petra Lind")
    for one in (agent, other):
        await one.settle(f"{town}:Red house:room", knows=[f"{town}:Green"], now=NOW)
    await plans(other, "sleep at 9:10 today")
    await other.act(NOW + 10 * MINUTE)
    (*seen,) = (await agent.perceive(now=NOW + 10 * MINUTE)).new
    assert any(memory.text.startswith("Petra Lind is in the room: ") for memory in seen)
    for one in (agent, other):
        await plans(one, "walk at 9:40 today", at=NOW + 20 * MINUTE)
        await one.act(NOW + 40 * MINUTE)
    (*seen,) = (await agent.perceive(now=NOW + 50 * MINUTE)).new
    assert any(memory.text.startswith("Petra Lind is at the lawn: ") for memory in seen)


async def test_home_that_is_no_room_is_refused(agent: AsyncAgent, town: str) -> None:
    for home in (town, f"{town}:Red house", f"{town}:Nowhere:room"):
        with pytest.raises(InvalidInput):
            await agent.settle(home, now=NOW)


async def test_what_is_forgotten_is_gone_from_what_the_agent_saw_and_does(
    agent: AsyncAgent, new_agent: New, town: str, memory: AsyncMemory
) -> None:
    other = new_agent()
    await other.configure(name="Quillon Abernathy")
    for one in (agent, other):
        await one.settle(f"{town}:Red house:room", now=NOW)
    await plans(other, "sleep at 9:10 today")
    await other.act(NOW + 10 * MINUTE)
    (seen, *_) = (await agent.perceive(now=NOW + 10 * MINUTE)).new
    known = [place.state for place in await agent.places() if place.state is not None]
    assert known == ["in use by Quillon Abernathy"]
    await agent.forget(seen.id, terms=["Quillon"], now=NOW + 20 * MINUTE)
    assert [place.state for place in await agent.places() if place.state is not None] == []
    assert await agent.check() == ()
    await memory.forget_agent(other.id)


async def test_places_that_are_called_by_a_term_are_named_and_stay(agent: AsyncAgent, town: str) -> None:
    await agent.settle(f"{town}:Red house:room", now=NOW)
    stored = await agent.observe("The red house makes noise", place="by the red house", now=NOW)
    assert (await agent.forget(stored.id, dry_run=True, now=NOW)).places == ()
    report = await agent.forget(stored.id, terms=["red house", "Bakery"], now=NOW)
    known = [place.path for place in await agent.places()]
    assert report.places == tuple(path for path in sorted(known) if "Red house" in path)
    assert f"{town}:Red house" in known
    assert (await agent.get(stored.id)).place is None
