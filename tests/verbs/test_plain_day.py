"""A day without a model: from appointments, habits and what is on the agent's mind; what it will not do, and when."""

from __future__ import annotations

from collections import Counter

import pytest
from verbs.test_planning import DAY, LONDON, at, blocks, each_minute, spans

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.language.whens import meal_in

pytestmark = pytest.mark.usefixtures("born")


async def test_a_day_without_a_model(agent: AsyncAgent) -> None:
    await agent.configure(
        name="Ines Calder", traits="Boatbuilder in Skerrow. Wakes up at 6:00, goes to bed at 22:00.",
        time_zone="Europe/London",
    )  # fmt: skip
    for day in (10, 11):
        await agent.observe_many(
            [
                {"text": "Caulked the Petrel on the slip", "occurred_at": at(9, day=day)},
                {"text": "Had lunch on the quay", "occurred_at": at(12, day=day), "place": "quay"},
                {"text": "The Petrel leaks at the garboard plank", "importance": 7, "occurred_at": at(14, day=day)},
            ],
            now=at(20, day=day),
        )
    await agent.observe(
        "Come to the harbour party at the Ice House on 12 June at 17:00!", kind="utterance", source="Tobias Reed",
        id="invitation", now=at(20, day=11),
    )  # fmt: skip
    report = await agent.plan_day(DAY, now=at(5))
    assert (report.adjusted, report.refused) == ((), ())
    found = blocks(report.plans)
    told = spans(found, LONDON)
    assert told[0] == "06:00-07:00 get up, wash and have breakfast"
    assert told[-1] == "22:00-06:00 sleep"
    assert 5 <= len(found) <= 10
    (party,) = [plan for plan in found if "party" in plan.text]
    assert (f"{party.start.astimezone(LONDON):%H:%M}", party.place) == ("17:00", "Ice House")
    assert [g.target for g in (await agent.explain(party.id)).grounds_of(party.id)] == ["invitation"]
    assert [meal_in(plan.text) for plan in found if meal_in(plan.text)].count("lunch") == 1
    assert any("Petrel" in plan.text for plan in found)
    await each_minute(agent, at(5), at(5, day=13), every=20)
    steps = await agent.plans(DAY, "step")
    eaten = Counter(meal for step in steps if (meal := meal_in(step.text)))
    assert eaten == {"breakfast": 1, "lunch": 1, "dinner": 1} or eaten == {"breakfast": 1, "lunch": 1}
    assert all(5 <= (step.end - step.start).total_seconds() / 60 <= 15 for step in steps if "sleep" not in step.text)

    await agent.supersede("invitation", text="There is no harbour party this year", now=at(11))
    again = await agent.replan(now=at(11, 30))
    assert again is not None
    after = blocks(await agent.plans(DAY))
    assert not [plan for plan in after if "party" in plan.text]
    assert [plan.id for plan in after if plan.end <= at(11)] == [plan.id for plan in found if plan.end <= at(11)]


@pytest.mark.parametrize(
    ("told", "text", "place"),
    [
        ("The guild dinner at the Town Hall is on 12 June at 19:00", "go to the guild dinner at the Town Hall",
         "Town Hall"),
        ("Guild dinner, Town Hall, 12 June, 19:00", "go to the Guild dinner", None),
        ("The guild dinner takes place in the Town Hall on 12 June at 19:00", "go to the guild dinner", "Town Hall"),
        ("The annual dinner of the guild is on 12 June at 19:00 in the Town Hall",
         "go to the annual dinner of the guild", "Town Hall"),
        ("I am meeting Rosa Marsh for dinner at the Ice House tomorrow at 19:00",
         "meet Rosa Marsh for dinner at the Ice House", "Ice House"),
        ("Supper with Rosa at the Mill tomorrow at 19:00", "go to the supper with Rosa at the Mill", "Mill"),
        ("Pavel's dinner is at the Mill tomorrow at 19:00", "go to Pavel's dinner", "Mill"),
    ],
)  # fmt: skip
async def test_an_event_keeps_its_name_and_place_down_to_the_step(
    agent: AsyncAgent, told: str, text: str, place: str | None
) -> None:
    await agent.configure(name="Ines Calder")
    await agent.observe(told, now=at(9, day=11))
    report = await agent.plan_day(DAY, now=at(6))
    (evening,) = [plan for plan in blocks(report.plans) if meal_in(plan.text) == "dinner"]
    assert (evening.text, evening.place, evening.start) == (text, place, at(19))
    for minute in (0, 20, 59):
        current = await agent.current_plan(at(19, minute))
        assert current is not None
        assert (current.plan.grain, current.plan.place) == ("step", place)
        assert current.plan.text.startswith(f"{text} (")
    noon = await agent.current_plan(at(12, 20))
    assert noon is not None
    assert noon.plan.text == "eat lunch"


@pytest.mark.parametrize("traits", ["Shy. Hates parties.", "A baker. Rosa avoids the party every year."])
async def test_who_does_not_want_to_does_not_go(agent: AsyncAgent, traits: str) -> None:
    await agent.configure(name="Rosa Marsh", traits=traits)
    await agent.observe("You are invited to the harbour party on 12 June at 17:00", kind="utterance", source="Tobias",
                        now=at(9, day=11))  # fmt: skip
    report = await agent.plan_day(DAY, now=at(6))
    assert not [plan for plan in report.plans if "party" in plan.text]


async def test_the_topic_without_the_invitation_is_not_attended(agent: AsyncAgent) -> None:
    await agent.configure(name="Rosa Marsh")
    await agent.observe("I am giving a party on 12 June at 17:00", kind="utterance", source="Tobias", now=at(9, day=11))
    await agent.observe("Tom has a dentist appointment tomorrow at 15:00", now=at(9, day=11))
    report = await agent.plan_day(DAY, now=at(6))
    assert not [plan for plan in report.plans if "party" in plan.text or "appointment" in plan.text]


async def test_an_agent_that_remembers_nothing_has_a_plain_day(agent: AsyncAgent) -> None:
    report = await agent.plan_day(DAY, now=at(0))
    assert [plan.text for plan in blocks(report.plans)] == [
        "sleep", "get up, wash and have breakfast", "see to what there is to do", "have lunch",
        "see to what there is to do", "have dinner", "spend the evening at leisure", "sleep",
    ]  # fmt: skip
    again = await agent.plan_day(DAY, now=at(0))
    assert again.plans == report.plans


async def test_agents_plan_apart(agent: AsyncAgent, memory: AsyncMemory) -> None:
    await agent.plan_day(DAY, now=at(0))
    other = memory.agent(agent.id + "2")
    await other.configure(time_zone="UTC")
    assert await other.plans(DAY) == ()
    assert await other.current_plan(at(9)) is None


async def test_the_step_of_this_moment_is_active(agent: AsyncAgent) -> None:
    await agent.configure(clock=at(9))
    await agent.plan_day(DAY)
    current = await agent.current_plan()
    assert current is not None
    assert {current.plan.state, *(plan.state for plan in current.within)} == {"active"}
    other = await agent.current_plan(at(15))
    assert other is not None
    assert other.plan.state == "planned"


async def test_a_plan_knows_nothing_of_what_was_recorded_later(agent: AsyncAgent) -> None:
    await agent.observe("Come to the harbour party at the Ice House on 12 June at 17:00", kind="utterance",
                        source="Tobias", id="party", now=at(9, day=13))  # fmt: skip
    await agent.observe("Caulked the Petrel", occurred_at=at(9, day=11), now=at(9, day=13), importance=9, id="caulked")
    await agent.observe("Tied up the Heron", now=at(6, 30), importance=3, id="heron")
    report = await agent.plan_day(DAY, now=at(6, 30))
    assert report.later == 2
    assert not [plan for plan in report.plans if "party" in plan.text]
    run = await agent.run(report.run_id or "")
    assert {shown.memory.id for shown in run.shown} == {"heron"}
    # The digest of the day before rests on what was known as well: nothing.
    assert await agent.digest("2026-06-11", now=at(6, 30)) is None
    reaction = await agent.react("The Petrel floats", about="Tobias", now=at(10))
    seen = await agent.run(reaction.run_id or "")
    assert not {"party", "caulked"} & {shown.memory.id for shown in seen.shown}
    # What is known by now is used, whenever that is.
    tomorrow = await agent.plan_day("2026-06-14", now=at(9, day=13))
    assert tomorrow.later == 0
    told = await agent.run(tomorrow.run_id or "")
    assert {"party", "caulked"} <= {shown.memory.id for shown in told.shown}


async def test_what_was_recorded_later_leaves_room_for_what_was_known(agent: AsyncAgent) -> None:
    await agent.observe("Come to the harbour party at the Ice House on 12 June at 17:00", kind="utterance",
                        source="Tobias", now=at(9, day=10))  # fmt: skip
    later = [f"You are invited to the party at the Ice House on {n} July at 17:00" for n in range(1, 31)]
    for _ in range(4):
        await agent.observe_many([{"text": f"{text}!", "importance": 9} for text in later], now=at(9, day=13))
        later = [f"{text}, number {len(later)}" for text in later]
    report = await agent.plan_day(DAY, now=at(6))
    assert report.later == 120
    (party,) = [plan for plan in blocks(report.plans) if "party" in plan.text]
    assert party.start == at(17)
