"""Kinds of fault that others reported (docs/public-reports.md) and that no other test is about."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np

from graphmem import AsyncMemory, Weights
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder, Vectors
from graphmem.models import PAPER, RECALL
from graphmem.testing import HashingEmbedder

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OLD = [
    {"id": "2021", "text": "The lamp room is on floor 2", "key": "lamp room", "occurred_at": "2021-06-01T08:00:00Z"},
    {"id": "2024", "text": "The ferry was repainted", "occurred_at": "2024-02-29T08:00:00Z"},
    {"id": "2019", "text": "The lamp room is on floor 1", "key": "lamp room", "occurred_at": "2019-06-01T08:00:00Z"},
    {"id": "2020", "text": "A storm took the pier", "occurred_at": "2020-11-05T23:30:00+05:30"},
]


async def test_b12_what_comes_late_keeps_its_dates_and_the_latest_value_whatever_the_order(agent: AsyncAgent) -> None:
    assert (await agent.observe_many(OLD, now=T)).added == 4
    assert (await agent.observe_many(OLD, now=T + timedelta(days=1))).added == 0
    kept = {memory.id: memory for memory in await agent.memories(limit=10)}
    assert [kept[str(year)].occurred_at.astimezone(UTC).year for year in (2019, 2020, 2021, 2024)] == [
        2019, 2020, 2021, 2024,
    ]  # fmt: skip
    assert {memory.recorded_at for memory in kept.values()} == {T}
    assert (kept["2021"].status, kept["2019"].status) == ("active", "superseded")


async def test_b13_a_question_about_what_was_never_stored_is_told_by_its_raw_relevance(agent: AsyncAgent) -> None:
    await agent.observe_many([f"Ina waters the tomato bed, row {n}" for n in range(6)], now=T)
    near = await agent.retrieve("Ina waters the tomato bed", now=T, touch=False)
    far = await agent.retrieve("income tax law", now=T, touch=False)
    # Within each answer the best has a normalised relevance of 1; only the raw one can be held against a threshold.
    assert (near[0].relevance.normalised, far[0].relevance.normalised) == (1, 1)
    threshold = 0.4
    assert all((hit.relevance.raw or 0) > threshold for hit in near)
    assert [hit for hit in far if (hit.relevance.raw or 0) > threshold] == []
    assert far[0].score >= far[-1].score


class AllAlike(HashingEmbedder):
    """All texts are nearly the same to it, as a negation or a digit makes hardly a difference to a real one."""

    def __init__(self, inner: Embedder) -> None:
        super().__init__(inner.dimension)
        self._name = inner.name

    @property
    def name(self) -> str:
        return self._name

    def embed_query(self, text: str) -> Vectors:
        found = 0.05 * np.asarray(super().embed_query(text), dtype=np.float32)
        found[0] += 1
        return found / np.linalg.norm(found)


async def test_b23_what_hardly_differs_is_kept_beside_the_other_and_what_is_equal_is_two_events(
    memory: AsyncMemory, embedder: Embedder, agent_id: str
) -> None:
    texts = [
        "The east gate is locked at night", "The east gate is not locked at night", "The ferry leaves at 07:40",
        "The ferry leaves at 07:50", "The bell rings", "The bell rings",
    ]  # fmt: skip
    alike = AllAlike(embedder)
    a, b = (np.asarray(alike.embed_query(text)) for text in texts[:2])
    assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) > 0.99
    async with await AsyncMemory.open(settings=memory.settings, embedder=alike) as other:
        agent = other.agent(agent_id)
        for number, text in enumerate(texts):
            await agent.observe(text, importance=3, now=T + timedelta(minutes=number))
        await other.work_once(agent=agent_id, now=T + timedelta(hours=1))
        held = await agent.memories(type="observation", status="active")
        assert sorted(memory.text for memory in held) == sorted(texts)
        for profile in (PAPER, RECALL):
            hits = await agent.retrieve("What is there to know?", k=20, profile=profile, now=T + timedelta(hours=1))
            found = [hit.memory.text for hit in hits if hit.memory.type == "observation"]
            assert sorted(found) == sorted(set(texts))  # Equal texts are two memories and one hit.


async def test_b36_no_verb_answers_with_what_another_agent_knows(memory: AsyncMemory) -> None:
    """Each of them is asked for the other's word, whose name begins with this one's."""
    kit = memory.agent(f"kit-{uuid4().hex[:8]}")
    kit2 = memory.agent(f"{kit.id}2")
    await kit.observe_many(["The word is marmot", "Kit walks by the river"], now=T)
    await kit2.observe_many(["The word is ocelot", "Kit2 walks by the lake"], now=T)
    await kit2.reflect(force=True, now=T)
    later = T + timedelta(hours=1)
    question = "The word is ocelot"
    answers = {
        "retrieve": await kit.retrieve(question, profile=PAPER, now=later),
        "recall": await kit.retrieve(question, profile=RECALL, evidence=3, now=later),
        "as of": await kit.retrieve(question, as_of=later, now=later),
        "ask": await kit.ask("What is the word?", now=later),
        "context": await kit.context(question, now=later),
        "reflect": await kit.reflect(force=True, now=later),
        "summarise": await kit.summarise(now=later),
        "plan_day": await kit.plan_day(now=later),
        "react": await kit.react("Somebody asks for the word", about=kit2.id, now=later),
        "recompute": await kit.recompute(now=later),
        "memories": await kit.memories(),
        "about": await kit.about("ocelot"),
        "tree": await kit.tree(),
        "log": await kit.log(),
        "review": await kit.review(),
        "timeline": await kit.timeline(),
        "runs": await kit.runs(),
        "export": await kit.export_memories(),
        "diffusion": await memory.diffusion("The word is marmot", agents=[kit.id]),
        "work": await memory.work_once(agent=kit.id, now=later),
    }
    for verb, answer in answers.items():
        told = repr(answer).replace(question, "")  # What was asked for is no answer.
        assert "ocelot" not in told, verb
        assert "lake" not in told, verb
    assert "marmot" in repr(answers["retrieve"])
    assert "marmot" in repr(answers["ask"])


class SlowLater:
    """Fails at first, and at the second try takes its time."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.dimension = inner.name, inner.dimension
        self.failing = True
        self.loop = asyncio.get_running_loop()
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise RuntimeError("busy")
        self.loop.call_soon_threadsafe(self.asked.set)
        asyncio.run_coroutine_threadsafe(self.go_on.wait(), self.loop).result()
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._inner.embed_query(text)

    def truncates(self, text: str) -> bool:
        return False


async def test_b29_a_vector_that_comes_late_brings_nothing_back(
    memory: AsyncMemory, embedder: Embedder, agent_id: str
) -> None:
    slow = SlowLater(embedder)
    async with await AsyncMemory.open(settings=memory.settings, embedder=slow) as other:
        agent = other.agent(agent_id)
        stored = await agent.observe("The word is quokka-17", importance=3, now=T)
        assert stored.embedding_model is None
        slow.failing = False
        await other._engine.store._driver.execute_query(
            "MATCH (m:Memory {agentId: $a}) SET m.nextEmbeddingAt = null",
            a=agent_id, database_=other._engine.store.database,
        )  # fmt: skip
        late = asyncio.create_task(other.work_once(agent=agent_id))
        await slow.asked.wait()
        await agent.forget(stored.id, now=T)
        slow.go_on.set()
        assert (await late).embedded == 0
        gone = await agent.get(stored.id)
        assert (gone.status, gone.text, gone.embedding_model) == ("forgotten", "", None)
        records, _, _ = await other._engine.store._driver.execute_query(
            "MATCH (m {agentId: $a}) WHERE m.embedding IS NOT NULL RETURN m",
            a=agent_id, database_=other._engine.store.database,
        )  # fmt: skip
        assert records == []
        assert len(await agent.retrieve("quokka-17", weights=Weights(relevance=1, recency=0, importance=0))) == 0


async def test_b32_an_id_that_is_returned_is_always_there(agent: AsyncAgent) -> None:
    first = await agent.observe("Bo wears green", id="o", importance=3, now=T)
    again = await agent.observe("Bo wears green", id="o", importance=3, now=T)
    assert again.id == first.id
    report = await agent.observe_many([{"text": "Bo wears green", "id": "o", "importance": 3}, "Bo hums"], now=T)
    assert [(await agent.get(id_)).text for id_ in report.ids] == ["Bo wears green", "Bo hums"]
    assert (await agent.supersede("o", by=report.ids[1], now=T)).replacement is not None
