"""Background work: what observing left for later, done once, by whichever worker comes first."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from scripted import Open, Scripted, numbers_of, rate_as

from graphmem import AsyncMemory
from graphmem.embedding.base import Embedder
from graphmem.errors import LanguageModelError
from graphmem.language.prompts import RateImportance
from graphmem.testing import FaultyEmbedder

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHIFTS = [
    {"text": "Orla swaps her late shift away", "id": "o1"},
    {"text": "Orla is cheerful at the early shift", "id": "o2"},
]


async def test_observing_never_waits_for_a_model_unless_asked(thinking: Open) -> None:
    model = Scripted(rate=rate_as(9))
    agent = await thinking(model)
    first = await agent.observe("Orla swaps her shift", now=T)
    assert model.tasks == []
    assert first.importance_by == "rule"
    second = await agent.observe("Orla is cheerful", now=T, ask=True)
    assert (second.importance, second.importance_by) == (9, "model")
    assert len(model.asked(RateImportance)) == 1


async def test_a_round_rates_reflects_and_recomputes(thinking: Open, memory: AsyncMemory) -> None:
    model = Scripted(
        rate=rate_as(9),
        infer=lambda task: {"insights": [{"text": "Orla likes the early shift", "evidence": numbers_of(task, "Orla")}]},
    )
    agent = await thinking(model)
    other = AsyncMemory(agent._engine, None)
    await agent.configure(reflection_threshold=18)
    await agent.observe_many(SHIFTS, now=T)
    before = (await agent.info()).importance_since_reflection
    assert before < 18
    report = await other.work_once(agent=agent.id, now=T)
    assert (report.agents, report.rated, report.reflections, report.recomputed) == (1, 2, 1, 0)
    assert (report.failures, report.pending) == ((), ())
    assert [(await agent.get(id_)).importance_by for id_ in ("o1", "o2")] == ["model", "model"]
    assert (await agent.info()).importance_since_reflection == 0
    await agent.retract("o1", now=T)
    await agent.retract("o2", now=T)
    assert (await other.work_once(agent=agent.id, now=T)).recomputed == 1
    assert (await other.work_once(agent=agent.id, now=T)).agents == 0


async def test_missing_embeddings_are_made_and_a_poisoned_text_blocks_nothing(
    memory: AsyncMemory, embedder: Embedder, agent_id: str
) -> None:
    faults: dict[str, object] = {"for now": RuntimeError("busy"), "for ever": RuntimeError("poison")}
    async with await AsyncMemory.open(settings=memory.settings, embedder=FaultyEmbedder(embedder, faults)) as other:
        agent = other.agent(agent_id)
        report = await agent.observe_many(["for now", "for ever", "fine"])
        assert len(report.not_embedded) == 2
        del faults["for now"]
        first = await other.work_once(agent=agent_id)
        assert (first.embedded, first.pending) == (1, (agent_id,))
        hits = await agent.retrieve("for now", k=1)
        assert (hits[0].memory.text, hits.not_embedded) == ("for now", 1)
        assert (await other.work_once(agent=agent_id)).embedded == 0


async def test_a_model_that_fails_is_reported_and_the_work_stays_due(thinking: Open) -> None:
    answers: list[Exception] = [LanguageModelError("quota used up", remedy="wait")]

    def rate(task: RateImportance) -> object:
        if answers:
            raise answers.pop()
        return rate_as(7)(task)

    agent = await thinking(Scripted(rate=rate))
    await agent.observe_many(SHIFTS, now=T)
    memory = AsyncMemory(agent._engine, None)
    report = await memory.work_once(agent=agent.id, now=T)
    assert [(failure.agent_id, failure.error, failure.remedy) for failure in report.failures] == [
        (agent.id, "quota used up", "wait")
    ]
    assert report.pending == (agent.id,)
    assert (await memory.work_once(agent=agent.id, now=T)).rated == 2


async def test_workers_at_once_do_nothing_twice(thinking: Open) -> None:
    model = Scripted(rate=rate_as(7))
    agent = await thinking(model)
    await agent.observe_many([f"Orla does thing {n}" for n in range(150)], now=T)
    memory = AsyncMemory(agent._engine, None)
    reports = await asyncio.gather(*(memory.work_once(agent=agent.id, now=T) for _ in range(6)))
    assert sum(report.rated for report in reports) == 150
    shown = [text for task in model.asked(RateImportance) for text in task.texts if "thing" in text]
    assert len(shown) == len(set(shown)) == 150


async def test_a_dead_workers_lease_ends(thinking: Open) -> None:
    agent = await thinking(Scripted(rate=rate_as(7)))
    await agent.observe_many(SHIFTS, now=T)
    driver = agent._engine.store._driver
    query = "MATCH (a:Agent {id: $id}) SET a.workToken = 'dead', a.workUntil = datetime() + duration($left)"
    await driver.execute_query(query, id=agent.id, left="PT1H", database_=agent._engine.store.database)
    memory = AsyncMemory(agent._engine, None)
    assert (await memory.work_once(agent=agent.id, now=T)).agents == 0
    await driver.execute_query(query, id=agent.id, left="-PT1S", database_=agent._engine.store.database)
    assert (await memory.work_once(agent=agent.id, now=T)).rated == 2
