"""Reacting: two queries for context, a decision, another rest of the day that rests on what was observed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from scripted import Open, Scripted, numbers_of
from verbs.test_planning import PLAIN, at, block, blocks, day_of, quarters, spans

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, InvalidText, LanguageModelError, NotActive
from graphmem.language.planning import DecideReaction, PlanDay
from graphmem.models import Plan

DAY = "2026-06-12"
FIRE = "Smoke rises from the shed"


def rescue(task: PlanDay) -> Any:
    """The day as it was planned; where it is planned anew, the rescue first."""
    if task.reaction is None:
        return {"plan": PLAIN}
    return {"plan": [block("15:07-16:00", task.reaction), block("16:00-22:00", "write to the insurance"), PLAIN[5]]}


def decides(**fields: Any) -> Any:
    return lambda task: {"react": True, "reason": "it burns", "evidence": [1], **fields}


async def test_the_rest_of_the_day_is_another_and_rests_on_what_was_observed(thinking: Open) -> None:
    model = Scripted(plan=rescue, divide=quarters, react=decides(doing="put out the fire"))
    agent = await thinking(model)
    await agent.observe("The shed holds the new sails", id="sails", now=at(5))
    before = await agent.plan_day(DAY, now=at(7))
    noon = await agent.current_plan(at(12, 20))
    assert noon is not None
    await agent.finish(noon.plan.id, now=at(12, 30))

    reaction = await agent.react(FIRE, now=at(15, 7))
    assert (reaction.reacted, reaction.reason, reaction.doing) == (True, "it burns", "put out the fire")
    assert (reaction.observation.text, reaction.converse_with) == (FIRE, None)
    assert spans(blocks(reaction.new)) == ["15:07-16:00 put out the fire", "16:00-22:00 write to the insurance"]
    after = await agent.plans(DAY)
    assert spans(blocks(after)) == [
        "07:00-08:00 have breakfast", "08:00-12:00 caulk the hull", "12:00-13:00 have lunch",
        "15:07-16:00 put out the fire", "16:00-22:00 write to the insurance", "22:00-07:00 sleep",
    ]  # fmt: skip
    past = {plan.id for plan in before.plans if plan.end <= at(15)}
    assert past - {plan.id for plan in reaction.dropped} <= {plan.id for plan in after} | {
        plan.id for plan in before.plans if plan.text.startswith("paint")
    }
    assert blocks(before.plans)[-1].id == blocks(after)[-1].id  # The night came out the same.
    for plan in blocks(reaction.new):
        assert [ground.target for ground in (await agent.explain(plan.id)).grounds_of(plan.id)] == [
            reaction.observation.id
        ]
    assert {plan.text for plan in blocks(reaction.dropped)} == {"paint the mast", "read"}
    for old in reaction.dropped:
        assert (await agent.get(old.id)).status == "superseded"
    now = await agent.current_plan(at(15, 10))
    assert now is not None
    assert now.plan.text.startswith("put out the fire")

    # The reason turns out wrong: so does the plan.
    await agent.supersede(reaction.observation.id, text="It was mist over the shed", now=at(15, 20))
    stale = await agent.current_plan(at(17))
    assert stale is not None
    assert stale.stale


async def test_the_context_is_retrieved_by_two_questions(thinking: Open, memory: AsyncMemory, agent_id: str) -> None:
    model = Scripted(plan=day_of(*PLAIN), divide=quarters)
    agent = await thinking(model)
    other = memory.agent(agent_id + "-klaus")
    await other.configure(name="Klaus Mueller")
    await agent.observe("Klaus Mueller and Ines row together", now=at(5))
    await agent.observe("The tide gauge is broken", now=at(5))
    reaction = await agent.react("Klaus Mueller is writing a paper", about=other.id, now=at(9))
    assert (reaction.reacted, reaction.dropped, reaction.new) == (False, (), ())
    (task,) = model.asked(DecideReaction)
    assert task.statements[0].text == "Klaus Mueller is writing a paper"
    assert numbers_of(task, "row together")
    assert task.people == ("Klaus Mueller",)
    assert task.doing is None
    run = await agent.run(reaction.run_id or "")
    assert run.run.verb == "react"
    assert reaction.observation.id in {shown.memory.id for shown in run.shown}


@pytest.mark.usefixtures("born")
async def test_only_whom_it_was_shown_can_be_talked_to(thinking: Open, memory: AsyncMemory, agent_id: str) -> None:
    other = memory.agent(agent_id + "-klaus")
    name = f"Klaus Mueller {agent_id[-8:]}"  # Nobody else in the store is called so.
    await other.configure(name=name)
    for number, expected in ((1, other.id), (2, None), (0, None), (-1, None)):
        agent = await thinking(Scripted(react=decides(converse_with=number)))
        reaction = await agent.react(f"{name} waves", about=name, now=at(9, number + 2))
        assert reaction.converse_with == expected
        assert [item.gate for item in reaction.refused] == ([] if expected else ["index"])
    agent = await thinking(Scripted(react=decides(converse_with=1)))
    nobody = await agent.react("A seal looks up", about="a seal", now=at(10))
    assert nobody.converse_with is None
    assert await agent.plans(DAY) == ()


async def test_it_takes_an_observation_by_its_id(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=rescue, divide=quarters, react=decides(doing="put out the fire")))
    await agent.observe(FIRE, id="smoke", now=at(15))
    reaction = await agent.react("smoke", now=at(15, 7))
    assert reaction.observation.id == "smoke"
    assert (await agent.info()).observations == 1
    with pytest.raises(InvalidInput, match="no observation"):
        await agent.react(reaction.new[0].id, now=at(16))
    await agent.retract("smoke", now=at(16))
    with pytest.raises(NotActive, match="retracted"):
        await agent.react("smoke", now=at(16))
    with pytest.raises(InvalidText):
        await agent.react("  ", now=at(16))


@pytest.mark.usefixtures("born")
async def test_a_failure_leaves_the_old_plan(thinking: Open) -> None:
    def fails(task: PlanDay) -> Any:
        if task.reaction:
            raise LanguageModelError("the provider is down")
        return {"plan": PLAIN}

    agent = await thinking(Scripted(plan=fails, divide=quarters, react=decides(doing="run")))
    before = await agent.plan_day(DAY, now=at(7))
    with pytest.raises(LanguageModelError, match="down"):
        await agent.react(FIRE, now=at(15))
    assert {plan.id for plan in await agent.plans(DAY)} == {plan.id for plan in before.plans} | {
        plan.id for plan in await agent.plans(DAY, "step")
    }
    assert (await agent.info()).observations == 1
    assert {run.outcome for run in await agent.runs() if run.verb == "react"} == {"failed"}


@pytest.mark.usefixtures("born")
async def test_reacting_at_night_replaces_the_night_that_began_the_day_before(thinking: Open) -> None:
    def plan(task: PlanDay) -> Any:
        if task.reaction is None:
            return {"plan": PLAIN}
        return {"plan": [block("02:00-03:00", task.reaction), block("03:00-07:00", "sleep again"),
                         block("07:00-22:00", "mend the roof"), block("22:00-07:00", "sleep")]}  # fmt: skip

    agent = await thinking(Scripted(plan=plan, divide=quarters, react=decides(doing="shut the windows")))
    await agent.plan_day(DAY, now=at(7))
    night = next(plan for plan in await agent.plans(DAY, "day") if plan.text == "sleep")
    reaction = await agent.react("A gale blows in", now=at(2, day=13))
    assert night.id in {plan.id for plan in reaction.dropped}
    assert spans(blocks(await agent.plans("2026-06-13"))) == [
        "02:00-03:00 shut the windows", "03:00-07:00 sleep again", "07:00-22:00 mend the roof", "22:00-07:00 sleep",
    ]  # fmt: skip
    before = await agent.current_plan(at(1, 30, day=13))
    after = await agent.current_plan(at(2, 30, day=13))
    assert before is not None
    assert after is not None
    assert (before.plan.text, after.plan.text.split(",")[0]) == ("sleep", "shut the windows")


# --- without a model --------------------------------------------------------------------------------------------


@pytest.fixture
async def rosa(agent: AsyncAgent) -> AsyncAgent:
    await agent.configure(name="Rosa Marsh", traits="A baker. Wakes up at 6:00.")
    await agent.observe("Rosa Marsh bakes the bread", now=at(5))
    await agent.plan_day(DAY, now=at(6))
    return agent


async def test_what_is_urgent_is_seen_to(rosa: AsyncAgent) -> None:
    reaction = await rosa.react("Fire in the bakery oven", now=at(15, 7))
    assert (reaction.reacted, reaction.doing) == (True, "see to it: Fire in the bakery oven")
    current = await rosa.current_plan(at(15, 30))
    assert current is not None
    assert current.plan.text.startswith("see to it")


async def test_an_invitation_for_today_is_planned_and_called_off_again(rosa: AsyncAgent) -> None:
    said = await rosa.observe(
        "Come to my dinner at the Ice House at 19:00 tonight", kind="utterance", source="Tobias", now=at(10)
    )
    reaction = await rosa.react(said.id, now=at(10))
    dinner = [plan for plan in blocks(await rosa.plans(DAY)) if "Tobias’s dinner" in plan.text]
    assert reaction.reacted
    assert [f"{plan.start:%H:%M}" for plan in dinner] == ["19:00"]
    off = await rosa.react("Tobias has called off the dinner at the Ice House", now=at(12))
    assert off.reacted
    assert not [plan for plan in blocks(await rosa.plans(DAY)) if "Tobias’s dinner" in plan.text]


async def test_somebody_met_is_talked_to_once(rosa: AsyncAgent, memory: AsyncMemory) -> None:
    klaus = memory.agent(rosa.id + "-klaus")
    await klaus.configure(name="Klaus Mueller")
    first = await rosa.react("Klaus Mueller is at the counter", about=klaus.id, now=at(10))
    assert (first.converse_with, first.new) == (klaus.id, ())
    await rosa.observe("Good morning, two rolls please", kind="utterance", source="Klaus Mueller", now=at(10, 1))
    again = await rosa.react("Klaus Mueller is still at the counter", about=klaus.id, now=at(10, 30))
    assert again.converse_with is None
    asleep = await rosa.react("Klaus Mueller walks by", about=klaus.id, now=at(23, 30))
    assert asleep.converse_with is None


async def test_most_things_ask_for_nothing(rosa: AsyncAgent) -> None:
    before = await rosa.plans(DAY)
    reaction = await rosa.react("A gull sits on the roof", now=at(10))
    assert (reaction.reacted, reaction.new, reaction.dropped) == (False, (), ())
    assert {plan.id for plan in before} <= {plan.id for plan in await rosa.plans(DAY)}
    assert all(isinstance(plan, Plan) for plan in before)
    assert reaction.observation.occurred_at == datetime(2026, 6, 12, 10, tzinfo=UTC)
