"""Answers from what was believed at a moment, and which changes concern them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from scripted import Open, Scripted

from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, InvalidTime, UnknownAgent
from graphmem.language.asking import AnswerQuestion
from graphmem.models.answers import UNKNOWN

T = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)
WHERE = "Do you know where Anna lives?"


def day(number: float) -> datetime:
    return T + timedelta(days=number)


async def test_it_is_told_what_was_believed_whatever_the_order_of_arrival(agent: AsyncAgent) -> None:
    for city, at in {"Paris": 60, "Oslo": 0, "Rome": 30}.items():
        await agent.observe(f"Anna lives in {city}.", id=city, key="home of Anna", now=day(at))
    before = await agent.memories()
    for at, city in {15: "Oslo", 45: "Rome", 75: "Paris"}.items():
        answer = await agent.ask(WHERE, as_of=day(at))
        assert (answer.text, answer.looked_at, answer.as_of, answer.now) == (
            f"Anna lives in {city}.", (city,), day(at), day(at)
        )  # fmt: skip
    assert (await agent.ask(WHERE, as_of=day(-1))).text == UNKNOWN
    assert await agent.memories() == before  # No access is noted.
    now = await agent.ask(WHERE, now=day(90))
    assert (now.text, now.as_of) == ("Anna lives in Paris.", None)


async def test_only_a_change_dated_by_then_concerns_the_answer(agent: AsyncAgent) -> None:
    await agent.observe("Anna lives in Oslo.", id="Oslo", now=day(0))
    early, late = [await agent.ask(WHERE, as_of=day(at), now=day(40)) for at in (5, 35)]
    now = await agent.ask(WHERE, now=day(41))
    report = await agent.supersede("Oslo", text="Anna lives in Rome.", mode="update", now=day(30))
    assert {run.id for run in report.used_by} == {late.run_id, now.run_id}
    await agent.restore("Oslo", now=day(50))
    assert {run.id for run in (await agent.retract("Oslo", now=day(51))).used_by} == {now.run_id}
    assert (await agent.ask(WHERE, as_of=day(5))).text == early.text == "Anna lives in Oslo."
    assert (await agent.ask(WHERE, as_of=day(52))).text == UNKNOWN


async def test_a_late_value_concerns_the_answer_about_the_time_that_it_changes(agent: AsyncAgent) -> None:
    await agent.observe("Anna lives in Oslo.", id="Oslo", key="home", now=day(0))
    told: list[tuple[str, ...]] = []
    first, second = [await agent.ask(WHERE, as_of=day(at)) for at in (15, 45)]
    agent._engine.listeners.append(lambda changed: told.append(tuple(run.id for run in changed.used_by)))  # pyright: ignore[reportPrivateUsage]
    await agent.observe("Anna lives in Rome.", id="Rome", key="home", now=day(30))
    agent._engine.listeners.pop()  # pyright: ignore[reportPrivateUsage]
    assert told == [(second.run_id,)]
    assert (await agent.ask(WHERE, as_of=day(15))).text == first.text == "Anna lives in Oslo."


async def test_the_turns_around_are_those_that_the_agent_had(agent: AsyncAgent) -> None:
    turns = ["Anna lives in Oslo.", "She likes it there.", "She has bought a boat."]
    for number, text in enumerate(turns):
        await agent.observe(text, id=f"t{number}", session="quay", occurred_at=day(number / 100), now=day(10 * number))
    await agent.retract("t1", now=day(15))
    looked = {at: set((await agent.ask(WHERE, as_of=day(at))).looked_at) for at in (5, 12, 17, 25)}
    assert looked == {5: {"t0"}, 12: {"t0", "t1"}, 17: {"t0"}, 25: {"t0", "t2"}}


async def test_a_model_is_shown_the_past_as_it_was_and_when_it_is_asked_about(thinking: Open) -> None:
    shown: list[AnswerQuestion] = []

    def answer(task: AnswerQuestion) -> object:
        shown.append(task)
        return {"sentences": [{"text": "Anna lives in Oslo.", "evidence": [1]}]}

    agent = await thinking(Scripted(answer=answer))
    await agent.observe("Anna lives in Oslo.", id="Oslo", key="home", now=day(0))
    await agent.observe("Anna lives in Rome.", id="Rome", key="home", now=day(30))
    answered = await agent.ask(WHERE, as_of=day(15))
    assert answered.text == "Anna lives in Oslo."
    assert [(task.now, [s.text for s in task.statements]) for task in shown] == [(day(15), ["Anna lives in Oslo."])]


async def test_it_combines_and_refuses_like_retrieve(agent: AsyncAgent) -> None:
    with pytest.raises(UnknownAgent):
        await agent.ask(WHERE, as_of=day(1))
    await agent.observe("Anna lives in Oslo.", id="Oslo", now=day(0))
    await agent.observe("Anna lives in Oslo by the sea, near the old fish market.", id="sea", now=day(0))
    with pytest.raises(InvalidTime, match="zone"):
        await agent.ask(WHERE, as_of="2026-04-15T12:00:00")
    with pytest.raises(InvalidInput, match="token_budget"):
        await agent.ask(WHERE, as_of=day(1), token_budget=0)
    assert (await agent.ask(WHERE, as_of=day(1), types=["plan"])).looked_at == ()
    assert (await agent.ask(WHERE, as_of=day(1), types=[])).text == UNKNOWN
    assert set((await agent.ask(WHERE, as_of=day(1), types=["observation"])).looked_at) == {"Oslo", "sea"}
    bounded = await agent.ask(WHERE, as_of=day(1), token_budget=1)
    assert (bounded.text, set(bounded.left_out)) == (UNKNOWN, {"Oslo", "sea"})
