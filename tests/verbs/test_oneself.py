"""Asked about itself: what an agent is told to be bears out an answer, marked as such; with a model through gates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.models.answers import UNKNOWN

T = datetime(2026, 6, 12, 8, tzinfo=UTC)


async def lena(agent: AsyncAgent) -> None:
    await agent.configure(name="Lena Voss", traits="Miller of Hollin. Patient with children.")
    await agent.observe("The mill wheel is stuck.", id="w", now=T)


async def test_it_says_who_it_is_and_marks_it(agent: AsyncAgent) -> None:
    await lena(agent)
    for question in ("Who are you?", "Who is Lena?"):
        answer = await agent.ask(question, now=T)
        (sentence,) = answer.sentences
        assert sentence.text == "I am Lena Voss: Miller of Hollin. Patient with children."
        assert (sentence.described, sentence.inferred, sentence.citations) == (True, False, ())
    wheel = await agent.ask("What is stuck?", now=T)
    assert [(one.text, one.described) for one in wheel.sentences] == [("The mill wheel is stuck.", False)]


async def test_what_is_configured_now_is_told(agent: AsyncAgent) -> None:
    await lena(agent)
    await agent.configure(traits="Baker in Aldermouth.")
    assert (await agent.ask("What is your job?", now=T)).text == "I am Lena Voss: Baker in Aldermouth."


async def test_an_agent_that_remembers_nothing_yet_still_knows_who_it_is(agent: AsyncAgent) -> None:
    await agent.configure(name="Lena Voss", traits="Miller of Hollin.")
    answer = await agent.ask("What do you do for a living?", now=T)
    assert (answer.text, answer.looked_at) == ("I am Lena Voss: Miller of Hollin.", ())
    assert (await agent.ask("Where do you live?", now=T)).text == UNKNOWN
    assert (await agent.ask("Who are you?", types=[], now=T)).text == UNKNOWN


async def test_with_a_model_the_description_is_shown_and_may_be_cited(thinking: Open) -> None:
    shown: list[str] = []

    def reply(task: Any) -> object:
        shown.append(task.messages()[-1].content)
        return {
            "sentences": [
                {"text": "I am Lena Voss, the miller of Hollin.", "evidence": [0]},
                {"text": "I, Lena Voss, saw that the mill wheel is stuck.", "evidence": [1]},
                {"text": "The mill wheel of Hollin is stuck.", "evidence": [1]},
                {"text": "I am Lena Voss, the mayor of Bremen.", "evidence": [0]},
                {"text": "I am Lena Voss, and I am not patient with children.", "evidence": [0]},
                {"text": "I am Lena Voss, aged 52.", "evidence": [0]},
                {"text": "I am patient.", "evidence": [7]},
            ]
        }

    agent = await thinking(Scripted(answer=reply))
    await lena(agent)
    answer = await agent.ask("Who are you?", now=T)
    assert '"description": "Miller of Hollin. Patient with children."' in shown[0]
    assert [(one.text, one.described, one.citations) for one in answer.sentences] == [
        ("I am Lena Voss, the miller of Hollin.", True, ()),
        ("I, Lena Voss, saw that the mill wheel is stuck.", False, ("w",)),
        ("The mill wheel of Hollin is stuck.", True, ("w",)),
    ]
    assert [refused.gate for refused in answer.refused] == ["support", "support", "support", "index"]


async def test_the_check_sees_the_description_and_counts(thinking: Open) -> None:
    claims: list[tuple[Any, Any]] = []

    def check(task: Any) -> object:
        claims.append((task.claims, task.own))
        return {"verdicts": [{"number": 1, "follows": False, "reason": "more than that"}]}

    answers = {"sentences": [{"text": "I am Lena Voss, miller of all Hollin.", "evidence": [0]}]}
    agent = await thinking(Scripted(answer=lambda task: answers, check=check))
    await lena(agent)
    answer = await agent.ask("Who are you?", now=T)
    assert not answer.known
    ((told, own),) = claims
    assert (told[0].evidence, own.traits) == ((0,), "Miller of Hollin. Patient with children.")


async def test_its_home_is_where_it_settled(memory: AsyncMemory, agent: AsyncAgent) -> None:
    town = f"Town of {agent.id.replace(':', ' ')}"
    await memory.build_world({"name": town, "places": [{"path": [town, "Mill", "loft", "bed"]}]}, now=T)
    await lena(agent)
    await agent.settle(f"{town}:Mill:loft", now=T)
    answer = await agent.ask("Where do you live?", now=T)
    assert answer.text == f"My home is loft, Mill, {town}."


@pytest.mark.usefixtures("born")
async def test_a_model_is_not_asked_where_there_is_nothing_to_show(thinking: Open) -> None:
    model = Scripted(answer=lambda task: pytest.fail("asked"))
    agent = await thinking(model)
    await agent.configure(time_zone="UTC")
    assert (await agent.ask("Who are you?", now=T)).text == UNKNOWN


def day_of(*blocks: tuple[str, str, str]) -> Callable[[Any], object]:
    plan: list[dict[str, Any]] = [
        {"start": start, "end": end, "text": text, "place": None, "evidence": []} for start, end, text in blocks
    ]
    return lambda task: {"plan": plan}


FRIDAY = day_of(
    ("07:00", "08:00", "have breakfast"),
    ("08:00", "12:00", "grind the barley"),
    ("12:00", "22:00", "mend the wheel"),
    ("22:00", "07:00", "sleep"),
)


@pytest.mark.usefixtures("born")
async def test_what_it_did_and_will_do_on_a_day_is_told_from_its_plans(agent: AsyncAgent, thinking: Open) -> None:
    planning = await thinking(Scripted(plan=FRIDAY))
    await planning.configure(name="Lena Voss", time_zone="UTC")
    for number in range(12):  # What else is remembered must not crowd them out.
        await agent.observe(f"Today the flour was sold, sack {number}.", id=f"s{number}", now=T - timedelta(hours=2))
    report = await planning.plan_day("2026-06-12", now=T - timedelta(hours=2))
    breakfast, barley, wheel = [plan for plan in report.new if plan.kind == "day"][:3]
    await agent.finish(breakfast.id, state="done", now=T)
    await agent.finish(barley.id, state="missed", reason="the wheel was stuck", now=T + timedelta(hours=4))

    noon = T + timedelta(hours=5)
    did = await agent.ask("What did you do today?", now=noon)
    assert did.text == "I planned and did this: “have breakfast” I planned this and missed it: “grind the barley”"
    assert did.citations == (breakfast.id, barley.id)
    for question in ("What will you do today?", "What are Lena's plans for today?", "What is Lena going to do today?"):
        will = await agent.ask(question, now=noon)
        assert [(one.text, one.citations) for one in will.sentences] == [("I plan: “mend the wheel”", (wheel.id,))]
        assert will.sentences[0].inferred
    for question in ("What did you do yesterday?", "What will you do tomorrow?"):
        assert not (await agent.ask(question, now=noon)).known
    # The next day the same question has another day, and yesterday is this one.
    later = noon + timedelta(days=1)
    assert (await agent.ask("What did you do yesterday?", now=later)).citations == (breakfast.id, barley.id)
    assert not (await agent.ask("What did you do today?", now=later, types=["observation"])).known
