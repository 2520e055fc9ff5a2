"""Prompts stay within what a model reads, however much there is to reflect on, and however long one memory is."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted, rate_as

from graphmem.errors import PromptTooLong
from graphmem.language.base import Reply, Task
from graphmem.language.prompts import AskQuestions, InferInsights

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Narrow(Scripted):
    """A model that refuses prompts above so many characters, and does not say beforehand."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            rate=rate_as(5),
            infer=lambda task: {"insights": [{"text": "The crane keeps working at the quay", "evidence": [1, 2]}]},
        )
        self.limit = limit
        self.refused = 0

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        if sum(len(message.content) for message in task.messages()) > self.limit:
            self.refused += 1
            raise PromptTooLong("the prompt is over my context window")
        return await super().reply(task)


def quay(count: int) -> list[dict[str, Any]]:
    return [
        {
            "text": f"The crane at the quay lifted container {n}",
            "id": f"c{n}",
            "occurred_at": T + timedelta(minutes=n),
            "importance": 1 + n % 9,
        }
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.slow)])
async def test_b35_a_backlog_is_reflected_on_and_what_was_never_shown_is_counted(thinking: Open, count: int) -> None:
    model = Narrow(9_000)
    agent = await thinking(model)
    await agent.observe_many(quay(count), now=T)
    # One that is larger than all that the model reads.
    text = "The crane at the quay stopped. " + "It creaked. " * 8_000
    await agent.observe(text, id="huge", importance=10, now=T, occurred_at=T + timedelta(days=15))

    report = await agent.reflect(now=T + timedelta(days=20))
    assert report.outcome == "reflected"
    details = await agent.run(report.run_id or "")
    assert report.not_shown == count + 1 - len(details.shown)
    assert "huge" in {shown.memory.id for shown in details.shown}
    (asked,) = model.asked(AskQuestions)
    huge = next(statement for statement in asked.statements if statement.shortened)
    assert huge.text.startswith("The crane at the quay stopped.")
    assert len(huge.text) < 9_000
    # The most important come first, and of those the latest.
    importances = sorted({s.importance for s in asked.statements}, reverse=True)
    assert importances[0] == 10
    left_out = {m.id for m in await agent.memories(type="observation", limit=1_000)} - {
        shown.memory.id for shown in details.shown
    }
    assert left_out
    assert model.refused <= 6  # The calls of a round are bounded.

    # The next rounds look at what came since, and at that alone.
    assert (await agent.reflect(now=T + timedelta(days=21))).outcome == "not_due"
    await agent.observe_many([{"text": f"The crane at the quay rests, day {n}", "importance": 9} for n in range(20)])
    again = await agent.reflect(now=T + timedelta(days=22))
    assert again.outcome == "reflected"
    assert again.not_shown <= 20


async def test_a_prompt_of_which_nothing_fits_is_an_error_and_gives_the_trigger_back(thinking: Open) -> None:
    agent = await thinking(Narrow(500))
    await agent.observe_many(quay(40), now=T)
    with pytest.raises(PromptTooLong):
        await agent.reflect(now=T + timedelta(days=1))
    info = await agent.info()
    assert info.importance_since_reflection == sum(item["importance"] for item in quay(40))


async def test_long_memories_are_shortened_for_rating_and_each_is_rated(thinking: Open) -> None:
    model = Scripted(rate=rate_as(8))
    agent = await thinking(model)
    texts = [f"Speech {n}: " + "words upon words " * 2_000 for n in range(8)]
    await agent.observe_many([{"text": text, "id": f"s{n}"} for n, text in enumerate(texts)], now=T, ask=True)
    assert {memory.importance_by for memory in await agent.memories()} == {"model"}
    for task in model.tasks:
        assert len(json.dumps(list(task.texts))) < 3 * 16_000


async def test_evidence_that_does_not_fit_is_left_out_from_the_end(thinking: Open) -> None:
    model = Narrow(4_000)
    agent = await thinking(model)
    await agent.observe_many(quay(60), now=T)
    report = await agent.reflect(now=T + timedelta(days=1))
    assert report.outcome == "reflected"
    shown = [len(task.statements) for task in model.asked(InferInsights)]
    assert 2 <= shown[0] < 30
