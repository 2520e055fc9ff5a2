"""Importance changes by use and by what came of a memory; a threshold may follow the agent's own mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from scripted import Open, Scripted, rate_as

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.errors import AlreadyEnded, InvalidInput, LanguageModelError
from graphmem.language.prompts import RateImportance, Reappraise
from graphmem.views.history import history

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = T + timedelta(days=2)


async def test_feedback_moves_importance_by_one_and_is_in_the_history(agent: AsyncAgent) -> None:
    await agent.observe("The spare key hangs behind the clock", id="key", importance=9, now=T)
    up = await agent.feedback("key", useful=True, reason="it let Mina in", now=LATER)
    assert (up.before, up.after) == (9, 10)
    assert (await agent.feedback("key", useful=True, now=LATER)).after == 10  # The end of the scale.
    assert (await agent.feedback("key", useful=False, now=LATER)).after == 9
    memory = await agent.get("key")
    assert (memory.importance, memory.importance_by) == (9, "caller")
    events = (await agent.history("key"))[1:]
    assert [(event.type, event.verb, event.importance_before, event.importance_after) for event in events] == [
        ("rated", "feedback", 9, 10),
        ("rated", "feedback", 10, 9),
    ]
    assert events[0].reason == "it let Mina in"
    assert "importance 9 → 10 by feedback" in str(history(events)[0])
    # Not the sum that triggers reflection: nothing new was perceived.
    assert (await agent.info()).importance_since_reflection == 9


async def test_feedback_on_what_ended_or_without_an_answer_is_refused(agent: AsyncAgent) -> None:
    await agent.observe("The spare key hangs behind the clock", id="key", importance=9, now=T)
    with pytest.raises(InvalidInput, match="neither True nor False"):
        await agent.feedback("key", useful="yes")  # type: ignore[arg-type]
    await agent.retract("key", now=T)
    with pytest.raises(AlreadyEnded):
        await agent.feedback("key", useful=True, now=LATER)


async def test_reappraising_shows_what_came_after_and_keeps_what_the_caller_rated(thinking: Open) -> None:
    def infer(task: object) -> object:
        return {"insights": [{"text": "Orla is settling in at the bakery", "evidence": [1, 2]}]}

    model = Scripted(rate=rate_as(4), infer=infer, reappraise=lambda task: rated_by_citations(task))
    agent = await thinking(model)
    await agent.observe_many(
        [
            {"text": "Orla started at the bakery", "id": "start"},
            {"text": "Orla baked her first loaf at the bakery", "id": "loaf"},
            {"text": "Orla was given the key of the bakery", "id": "key", "importance": 6},
        ],
        now=T,
        ask=True,
    )
    report = await agent.reflect(force=True, now=T)
    cited = {ground.target for ground in (await agent.explain(report.reflections[0].id)).grounds}
    again = await agent.reappraise(now=LATER)
    changed = {item.id: (item.before, item.after) for item in again.changed}
    assert changed == dict.fromkeys(cited - {"key"}, (4, 7))
    assert (await agent.get("key")).importance == 6
    (task,) = model.asked(Reappraise)
    shown = {item.text: item for item in task.items}
    assert "Orla was given the key of the bakery" not in shown
    for id_ in changed:
        item = shown[(await agent.get(id_)).text]
        assert (item.later, item.citations) == (("Orla is settling in at the bakery",), 1)
        event = (await agent.history(id_))[-1]
        assert (event.type, event.verb, event.by) == ("rated", "reappraise", "scripted")
    details = await agent.run(again.run_id or "")
    assert (details.run.verb, details.run.prompt_version) == ("reappraise", "reappraise/1")
    assert {shown.memory.id for shown in details.shown} >= set(changed)
    # What was looked at last is looked at last again.
    assert (await agent.reappraise(limit=1, now=LATER)).changed == ()


def rated_by_citations(task: Reappraise) -> object:
    return {
        "ratings": [
            {"number": number, "importance": 7 if item.citations else item.importance}
            for number, item in enumerate(task.items, start=1)
        ]
    }


async def test_a_model_that_fails_or_rates_what_it_was_not_shown_changes_nothing(thinking: Open) -> None:
    def fail(task: Reappraise) -> object:
        raise LanguageModelError("on fire")

    model = Scripted(rate=rate_as(4), reappraise=fail)
    agent = await thinking(model)
    await agent.observe("Orla started at the bakery", id="start", now=T, ask=True)
    with pytest.raises(LanguageModelError):
        await agent.reappraise(now=LATER)
    assert next(run.outcome for run in await agent.runs()) == "failed"
    model.answers[Reappraise] = lambda task: {"ratings": [{"number": 7, "importance": 9}]}
    report = await agent.reappraise(now=LATER)
    assert (report.changed, report.not_rated) == ((), 1)
    assert [item.gate for item in report.refused] == ["index"]
    assert (await agent.get("start")).importance == 4


async def test_without_a_model_what_insights_rest_on_gains(agent: AsyncAgent) -> None:
    assert (await agent.reappraise()).run_id is None
    await agent.observe_many(
        [{"text": f"Klara paints the harbour mural, part {n}", "id": f"p{n}"} for n in range(6)], now=T
    )
    report = await agent.reflect(force=True, now=T)
    assert report.reflections
    again = await agent.reappraise(now=LATER)
    assert again.changed
    assert all(item.after > item.before for item in again.changed)
    assert (await agent.get(again.changed[0].id)).importance_by == "rule"


@pytest.mark.parametrize("shift", [-3, 0, 3])
async def test_a_relative_threshold_does_not_depend_on_how_generously_a_model_rates(
    agent: AsyncAgent, shift: int
) -> None:
    await agent.configure(reflection_every=10)
    for number in range(9):
        await agent.observe(f"The crane lifts container {number}", importance=5 + shift, now=T)
    info = await agent.info()
    assert (info.reflection_every, info.reflection_threshold) == (10, 10 * (5 + shift))
    assert (await agent.reflect(now=T)).outcome == "not_due"
    await agent.observe("The crane lifts container 10", importance=5 + shift, now=T)
    assert (await agent.reflect(now=T)).outcome in ("reflected", "no_insight")
    back = await agent.configure(reflection_threshold=150)
    assert (back.reflection_every, back.reflection_threshold) == (None, 150)
    with pytest.raises(InvalidInput, match="not both"):
        await agent.configure(reflection_threshold=150, reflection_every=3)


async def test_a_model_that_knows_the_anchors_and_writes_grounded_insights_is_trusted(
    memory: AsyncMemory, embedder: Embedder
) -> None:
    assert (await memory.check_model()).anchors[2].rating in (1, 2, 3)  # extractive: cleaning up the room

    def anchors(ratings: list[int]) -> object:
        return {"ratings": [{"number": n, "importance": rating} for n, rating in enumerate(ratings, start=1)]}

    good = [1, 1, 2, 2, 8, 10, 10, 10]
    grounded = {"insights": [{"text": "Ines looks after the lamp of the lighthouse", "evidence": [1, 4]}]}
    invented = {"insights": [{"text": "Marta looks after the lamp of the lighthouse", "evidence": [1, 9]}]}
    for ratings, insights, trusted, misjudged in (
        (good, grounded, True, 0),
        ([5] * 8, grounded, False, 8),
        (good, invented, False, 0),
    ):
        model = Scripted(rate=lambda task, given=ratings: anchors(given), infer=lambda task, given=insights: given)
        async with await AsyncMemory.open(settings=memory.settings, embedder=embedder, language_model=model) as other:
            check = await other.check_model()
        assert (check.trusted, len(check.misjudged), check.prompt_tokens) == (trusted, misjudged, 20)
        assert (len(check.refused) > 0) == (insights is invented)
        assert json.loads(check.model_dump_json())["model"] == "scripted"

    def fail(task: RateImportance) -> object:
        raise LanguageModelError("quota used up")

    async with await AsyncMemory.open(
        settings=memory.settings, embedder=embedder, language_model=Scripted(rate=fail)
    ) as other:
        check = await other.check_model()
    assert (check.trusted, check.error) == (False, "quota used up")
