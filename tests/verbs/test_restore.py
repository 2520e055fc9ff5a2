"""Restoring: the newest change is undone, and what followed from it, without a model."""

from __future__ import annotations

from datetime import timedelta

import pytest
from scripted import Open
from verbs.test_change import BAKES, BOTH, HARBOUR, LATER, TOWN, WORKS, states
from verbs.test_recompute import MILL, build, confirm

from graphmem.async_agent import AsyncAgent
from graphmem.errors import NotEnded, NotNewest, UnknownMemory
from graphmem.language.prompts import Reconsider

AFTER = LATER + timedelta(days=1)


async def grounds(agent: AsyncAgent, id_: str) -> set[str]:
    return {ground.target for ground in (await agent.explain(id_)).grounds_of(id_)}


@pytest.mark.report("B26")
async def test_a_restore_before_any_recompute_leaves_everything_as_it_was(thinking: Open) -> None:
    agent, ids, model = await build(thinking)
    await agent.supersede("o1", text=MILL, now=LATER)
    report = await agent.restore("o1", reason="he is back", now=AFTER)
    assert (report.memory.status, report.memory.ended_at) == ("active", None)
    assert report.replacement is not None
    assert report.replacement.status == "retracted"
    assert [memory.id for memory in report.active] == [ids[WORKS], ids[BOTH], ids[TOWN]]
    assert report.stale == ()
    assert set((await states(agent, ids)).values()) == {"active"}
    assert model.asked(Reconsider) == []
    assert [hit.memory.id for hit in await agent.retrieve(HARBOUR["o1"], k=1, now=AFTER)] == ["o1"]
    causes = (await agent.explain(ids[TOWN])).causes
    assert causes
    assert all(cause.until == AFTER for cause in causes)


@pytest.mark.report("B27")
async def test_what_recompute_revised_is_restored_level_by_level_without_a_model(thinking: Open) -> None:
    agent, ids, model = await build(thinking)
    await agent.supersede("o1", text=MILL, now=LATER)
    revised = {item.id: item.new_id for item in (await agent.recompute(now=LATER)).items}
    asked = len(model.tasks)
    report = await agent.restore("o1", now=AFTER)
    assert [memory.id for memory in report.restored] == [ids[WORKS], ids[BOTH], ids[TOWN]]
    assert set((await states(agent, ids)).values()) == {"active"}
    assert {(await agent.get(new or "")).status for new in revised.values()} == {"retracted"}
    assert len(model.tasks) == asked
    assert (await agent.recompute(now=AFTER)).items == ()


async def test_what_recompute_retracted_is_restored(thinking: Open) -> None:
    agent, ids, _ = await build(thinking, lambda task: {"verdict": "retracted", "reason": "he left"})
    await agent.supersede("o1", text=MILL, now=LATER)
    await agent.recompute(now=LATER)
    assert (await agent.get(ids[TOWN])).status == "retracted"
    await agent.restore("o1", now=AFTER)
    assert set((await states(agent, ids)).values()) == {"active"}


async def test_what_the_caller_retracted_stays_retracted(thinking: Open) -> None:
    agent, ids, _ = await build(thinking)
    await agent.supersede("o1", text=MILL, now=LATER)
    await agent.retract(ids[WORKS], now=LATER)
    await agent.recompute(now=LATER)
    report = await agent.restore("o1", now=AFTER)
    assert ids[WORKS] not in {memory.id for memory in report.restored}
    assert (await agent.get(ids[WORKS])).status == "retracted"


async def test_citations_that_a_confirmation_had_moved_move_back(thinking: Open) -> None:
    agent, ids, _ = await build(thinking, confirm)
    report = await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    assert report.replacement is not None
    await agent.recompute(now=LATER)
    assert await grounds(agent, ids[WORKS]) == {report.replacement.id, "o2"}
    await agent.restore("o1", now=AFTER)
    assert await grounds(agent, ids[WORKS]) == {"o1", "o2"}
    assert set((await states(agent, ids)).values()) == {"active"}


async def test_a_replacement_that_existed_before_stays(thinking: Open) -> None:
    agent, ids, _ = await build(thinking)
    await agent.supersede("o1", by="o4", now=LATER)
    report = await agent.restore("o1", now=AFTER)
    assert report.replacement is not None
    assert (report.replacement.id, report.replacement.status) == ("o4", "active")
    assert set((await states(agent, ids)).values()) == {"active"}


async def test_what_was_built_on_the_replacement_is_thought_about_with_the_restored(thinking: Open) -> None:
    """A reflection written after the change cites the replacement; its recompute is shown the restored memory."""
    agent, ids, model = await build(thinking, confirm)
    report = await agent.supersede("o3", text="Ina sells cakes on the square", now=LATER)
    assert report.replacement is not None
    model.answers[type(model.tasks[-1])] = model.answers[type(model.tasks[-1])]
    queue = [("Ina is a seller of cakes", ("cakes",))]
    from scripted import numbers_of

    from graphmem.language.prompts import InferInsights

    model.answers[InferInsights] = lambda task: {
        "insights": [{"text": queue[0][0], "evidence": numbers_of(task, *queue[0][1])}]
    }
    (late,) = (await agent.reflect(force=True, now=LATER)).reflections
    await agent.restore("o3", now=AFTER)
    assert (await agent.get(late.id)).status == "stale"
    model.answers[Reconsider] = lambda task: {"verdict": "retracted", "reason": "it sells bread"}
    await agent.recompute(now=AFTER)
    shown = [s.text for task in model.asked(Reconsider) if task.hypothesis == late.text for s in task.statements]
    assert shown == [HARBOUR["o3"]]
    assert (await agent.get(ids[BAKES])).status == "active"


async def test_only_the_newest_change_is_undone(agent: AsyncAgent) -> None:
    await agent.observe("v1", id="v1")
    second = (await agent.supersede("v1", text="v2")).replacement
    assert second is not None
    third = (await agent.supersede(second.id, text="v3")).replacement
    assert third is not None
    with pytest.raises(NotNewest, match=second.id) as caught:
        await agent.restore("v1")
    assert second.id in caught.value.remedy
    await agent.restore(second.id)
    assert (await agent.get(third.id)).status == "retracted"
    await agent.restore("v1")
    assert [(await agent.get(id_)).status for id_ in ("v1", second.id, third.id)] == [
        "active",
        "retracted",
        "retracted",
    ]


async def test_a_retraction_is_undone_and_what_is_held_cannot_be_restored(agent: AsyncAgent) -> None:
    await agent.observe("x", id="x")
    with pytest.raises(NotEnded, match="active"):
        await agent.restore("x")
    with pytest.raises(UnknownMemory):
        await agent.restore("nope")
    await agent.retract("x")
    assert len(await agent.retrieve("x")) == 0
    await agent.restore("x")
    assert [hit.memory.id for hit in await agent.retrieve("x")] == ["x"]
    info = await agent.info()
    assert (info.observations, info.ended) == (1, 0)
