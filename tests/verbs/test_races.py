"""What changes while a model thinks: stale evidence is waited for, and no verdict is written on other evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from scripted import Open, Scripted
from verbs.test_change import HARBOUR, LATER, LAYERS, WORKS, T
from verbs.test_recompute import MILL, Thinker, build, confirm

from graphmem.async_agent import AsyncAgent
from graphmem.cognition import recompute as recompute_module
from graphmem.errors import RunLost
from graphmem.language.base import Task
from graphmem.language.prompts import InferInsights, Reconsider


class Paused(Thinker):
    """Stops before its first answer to a kind of task until it is told to go on."""

    def __init__(self, kind: type, reconsider: object = None) -> None:
        super().__init__(list(LAYERS), reconsider)
        self.kind = kind
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()
        self.armed = False

    async def reply(self, task: Task[Any]) -> Any:
        if self.armed and isinstance(task, self.kind) and not self.started.is_set():
            self.started.set()
            await self.go_on.wait()
        return await super().reply(task)


async def test_a_ground_that_turns_stale_after_the_lease_is_waited_for(thinking: Open, agent: AsyncAgent) -> None:
    """The upper reflection must not be retracted for evidence that is only stale, and confirmed a moment later."""
    model = Paused(Reconsider, confirm)
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    ids: dict[str, str] = {}
    for text, _ in LAYERS[:3]:
        (reflection,) = (await thinker.reflect(force=True, now=T)).reflections
        ids[text] = reflection.id
    works, bakes, both = (ids[text] for text, _ in LAYERS[:3])
    await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    model.armed = True
    recomputing = asyncio.create_task(thinker.recompute(now=LATER))
    await model.started.wait()
    await agent.supersede("o4", text="Ina bakes bread before dawn", now=LATER)  # BAKES turns stale meanwhile.
    model.go_on.set()
    report = await recomputing
    assert {item.outcome for item in report.items} == {"confirmed"}
    assert [(await agent.get(id_)).status for id_ in (works, bakes, both)] == ["active"] * 3


async def test_a_retraction_is_not_written_when_its_evidence_changed_meanwhile(
    thinking: Open, agent: AsyncAgent
) -> None:
    answers: list[Callable[[Any], object]] = [
        lambda task: {"verdict": "retracted", "reason": "the mill is not the harbour"},
        confirm,
    ]
    model = Paused(Reconsider, lambda task: answers.pop(0)(task))
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    (works,) = (await thinker.reflect(force=True, now=T)).reflections
    wrong = (await agent.supersede("o1", text=MILL, now=LATER)).replacement
    assert wrong is not None
    model.armed = True
    recomputing = asyncio.create_task(thinker.recompute(now=LATER))
    await model.started.wait()
    await agent.supersede(wrong.id, text="Bo lifts crates at the harbour", now=LATER)
    model.go_on.set()
    (item,) = (await recomputing).items
    assert item.outcome == "confirmed"
    assert (await agent.get(works.id)).status == "active"


async def test_evidence_that_comes_back_while_the_last_of_it_is_missed_is_seen(
    thinking: Open, agent: AsyncAgent
) -> None:
    """An access or a rating of the evidence is no change of it."""
    model = Paused(Reconsider, confirm)
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    await thinker.reflect(force=True, now=T)
    await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    model.armed = True
    recomputing = asyncio.create_task(thinker.recompute(now=LATER))
    await model.started.wait()
    await agent.retrieve("crates at the harbour", now=LATER)
    model.go_on.set()
    assert [item.outcome for item in (await recomputing).items] == ["confirmed"]
    assert len(model.asked(Reconsider)) == 1


async def test_a_reply_that_takes_longer_than_the_lease_is_still_taken(
    thinking: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recompute_module, "LEASE_SECONDS", 0)  # Every lease has ended when the answer comes.
    agent, ids, model = await build(thinking, confirm)
    await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    report = await agent.recompute(now=LATER)
    assert [(item.id, item.outcome) for item in report.items] == [(ids[WORKS], "confirmed")]
    assert len(model.asked(Reconsider)) == 1


async def test_a_late_write_is_refused_when_another_worker_took_over(thinking: Open, agent: AsyncAgent) -> None:
    model = Paused(Reconsider, confirm)
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    (works,) = (await thinker.reflect(force=True, now=T)).reflections
    await agent.supersede("o1", text=MILL, now=LATER)
    model.armed = True
    late = asyncio.create_task(thinker.recompute(now=LATER))
    await model.started.wait()
    held = await (await thinking(Thinker([]))).recompute(now=LATER)
    assert (held.items, held.remaining, held.elsewhere) == ((), 1, 1)
    driver = agent._engine.store._driver
    await driver.execute_query(
        "MATCH (m:Memory {agentId: $a, id: $id}) SET m.leaseUntil = datetime() - duration('PT1S')",
        a=agent.id, id=works.id, database_=agent._engine.store.database,
    )  # fmt: skip
    quick = Thinker([], lambda task: {"verdict": "retracted", "reason": "he left"})
    other = await (await thinking(quick)).recompute(now=LATER)
    assert [item.outcome for item in other.items] == ["retracted"]
    model.go_on.set()
    assert (await late).items == ()
    assert (await agent.get(works.id)).status == "retracted"


async def test_a_reflection_that_was_taken_for_dead_writes_nothing_more(thinking: Open, agent: AsyncAgent) -> None:
    model = Paused(InferInsights)
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    model.armed = True
    late = asyncio.create_task(thinker.reflect(force=True, now=T))
    await model.started.wait()
    driver = agent._engine.store._driver
    await driver.execute_query(
        "MATCH (r:Run {agentId: $a, outcome: 'open'}) SET r.leaseUntil = datetime() - duration('PT1S')",
        a=agent.id, database_=agent._engine.store.database,
    )  # fmt: skip
    quick = await thinking(Scripted(infer=lambda task: {"insights": []}))
    assert (await quick.reflect(force=True, now=T)).outcome == "no_insight"
    model.go_on.set()
    with pytest.raises(RunLost):
        await late
    info = await agent.info()
    assert (info.reflections, info.importance_since_reflection) == (0, 0)
    assert sorted(run.outcome for run in await agent.runs()) == ["failed", "no_insight"]


async def test_a_memory_that_held_again_meanwhile_is_recomputed_at_once_when_it_turns_stale_anew(
    thinking: Open, agent: AsyncAgent
) -> None:
    """The lease of an answer that came too late must not keep anyone from the memory."""
    model = Paused(Reconsider, confirm)
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    (works,) = (await thinker.reflect(force=True, now=T)).reflections
    await agent.supersede("o1", text=MILL, now=LATER)
    model.armed = True
    recomputing = asyncio.create_task(thinker.recompute(now=LATER))
    await model.started.wait()
    await agent.restore("o1", now=LATER)
    model.go_on.set()
    assert (await recomputing).items == ()
    assert (await agent.get(works.id)).status == "active"
    await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    report = await thinker.recompute(now=LATER)
    assert [(item.id, item.outcome) for item in report.items] == [(works.id, "confirmed")]
