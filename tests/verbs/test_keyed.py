"""Keyed facts: of the observations of one key the latest holds, in whatever order they arrive."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem.async_agent import AsyncAgent
from graphmem.errors import KeyMismatch, NotNewest
from graphmem.language.prompts import Reconsider

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
LATER = T + 30 * DAY
KEY = "address of Ana"


async def move(agent: AsyncAgent, day: int, *, id: str | None = None, text: str | None = None) -> None:
    """Observe where Ana lives from a day on."""
    await agent.observe(
        text or f"Ana lives at {day} Harbour Road",
        id=id or f"day-{day}", key=KEY, occurred_at=T + day * DAY, importance=5, now=LATER,
    )  # fmt: skip


async def held(agent: AsyncAgent) -> list[str]:
    """Ids of the values that are held, of every key."""
    return [memory.id for memory in await agent.memories(type="observation", status="active")]


async def picture(agent: AsyncAgent) -> tuple[dict[str, tuple[str, str, datetime]], set[tuple[str, str]]]:
    """All that is current in the graph: each memory with its status, and what supersedes what."""
    memories = await agent.memories(limit=10_000)
    supersessions = {
        (edge.newer, edge.older) for memory in memories for edge in (await agent.explain(memory.id)).supersessions
    }
    return {memory.id: (memory.status, memory.text, memory.occurred_at) for memory in memories}, supersessions


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
async def test_the_latest_value_holds_whatever_the_order_of_arrival(agent: AsyncAgent, order: tuple[int, ...]) -> None:
    for day in order:
        await move(agent, day)
    states, edges = await picture(agent)
    assert {id_: state[0] for id_, state in states.items()} == {
        "day-1": "superseded",
        "day-2": "superseded",
        "day-3": "active",
    }
    assert edges == {("day-2", "day-1"), ("day-3", "day-2")}


async def test_what_a_later_value_ends_is_reported(agent: AsyncAgent) -> None:
    first, third, second = (
        {"text": f"Ana lives at {day} Harbour Road", "id": f"day-{day}", "key": KEY, "occurred_at": T + day * DAY}
        for day in (1, 3, 2)
    )
    assert (await agent.observe_many([first], now=LATER)).superseded == ()
    assert (await agent.observe_many([third], now=LATER)).superseded == ("day-1",)
    late = await agent.observe_many([second], now=LATER)
    assert (late.superseded, late.added) == (("day-2",), 1), "it came too late to be held"
    assert (await agent.observe_many([second], now=LATER)).superseded == (), "known already"


async def test_of_equal_times_the_greater_id_holds(agent: AsyncAgent) -> None:
    for id_ in ("b", "c", "a"):
        await move(agent, 1, id=id_, text=f"Ana lives in house {id_}")
    assert await held(agent) == ["c"]


@pytest.mark.report("B12")
async def test_one_batch_gives_what_single_calls_give_and_imports_in_any_order_the_same_graph(
    new_agent: Callable[[], AsyncAgent],
) -> None:
    items = [
        {"text": f"{name} is in room {room}", "id": f"{name}-{n}", "key": f"room of {name}",
         "occurred_at": T + timedelta(hours=hour), "importance": 4}
        for n, (name, room, hour) in enumerate(
            [("Ana", 1, 0), ("Ana", 2, 5), ("Ana", 2, 9), ("Bo", 7, 3), ("Bo", 8, 3), ("Cy", 3, 1), ("Ana", 1, 12)]
        )
    ]  # fmt: skip
    pictures: list[object] = []
    dice = random.Random(7)
    for batches in (1, 2, len(items), len(items)):
        agent = new_agent()
        shuffled = dice.sample(items, len(items))
        size = -(-len(items) // batches)
        for start in range(0, len(items), size):
            await agent.observe_many(shuffled[start : start + size], now=LATER)
        assert await agent.check() == ()
        pictures.append(await picture(agent))
    assert all(picture == pictures[0] for picture in pictures)
    assert sorted(await held(agent)) == ["Ana-6", "Bo-4", "Cy-5"]


async def test_retracting_the_newest_revives_the_one_before(agent: AsyncAgent) -> None:
    for day in (1, 2, 3):
        await move(agent, day)
    report = await agent.retract("day-3", reason="she never moved", now=LATER)
    assert [memory.id for memory in report.restored] == ["day-2"]
    assert await held(agent) == ["day-2"]
    await agent.retract("day-2", now=LATER)
    assert await held(agent) == ["day-1"]
    # The retraction of the newest is undone: it holds again, and the one before gives way.
    await agent.restore("day-3", now=LATER)
    with pytest.raises(NotNewest, match="'day-3' is"):
        await agent.restore("day-2", now=LATER)
    assert await held(agent) == ["day-3"]
    await move(agent, 4)
    with pytest.raises(NotNewest, match="'day-4' is"):
        await agent.restore("day-3", now=LATER)


async def test_the_only_value_is_retracted_and_comes_back(agent: AsyncAgent) -> None:
    await move(agent, 1)
    await agent.retract("day-1", now=LATER)
    assert await held(agent) == []
    await agent.restore("day-1", now=LATER)
    assert await held(agent) == ["day-1"]


async def test_restoring_an_earlier_value_is_refused(agent: AsyncAgent) -> None:
    for day in (1, 2, 3):
        await move(agent, day)
    with pytest.raises(NotNewest, match="day-3") as refused:
        await agent.restore("day-1", now=LATER)
    assert "retract 'day-3' instead" in refused.value.remedy
    assert await held(agent) == ["day-3"]


async def test_a_correction_takes_the_place_and_key_of_what_it_corrects(agent: AsyncAgent) -> None:
    for day in (1, 2):
        await move(agent, day)
    new = (await agent.supersede("day-2", text="Ana lives at 22 Harbour Road", now=LATER)).replacement
    assert new is not None
    assert (new.occurred_at, new.type == "observation" and new.key) == (T + 2 * DAY, KEY)
    assert await held(agent) == [new.id]
    # What it corrected stays out: without the correction the value before it holds.
    await agent.retract(new.id, now=LATER)
    assert await held(agent) == ["day-1"]
    await agent.restore(new.id, now=LATER)
    await agent.restore("day-2", now=LATER)
    assert await held(agent) == ["day-2"]
    await move(agent, 3)
    assert await held(agent) == ["day-3"]


async def test_a_corrected_value_and_others_of_the_same_moment(agent: AsyncAgent) -> None:
    """A correction is ordered where the corrected value was, whatever its own id."""
    for id_ in ("x", "y"):
        await move(agent, 1, id=id_, text=f"Ana lives in house {id_}")
    new = (await agent.supersede("y", text="Ana lives in house 9", now=LATER)).replacement
    assert new is not None
    assert await held(agent) == [new.id]


async def test_an_update_is_the_next_value(agent: AsyncAgent) -> None:
    await move(agent, 1)
    new = (await agent.supersede("day-1", text="Ana lives on a boat", mode="update", now=LATER)).replacement
    assert new is not None
    assert new.occurred_at == LATER
    await move(agent, 2)  # Between the two.
    assert await held(agent) == [new.id]
    await agent.retract(new.id, now=LATER)
    assert await held(agent) == ["day-2"]
    await agent.retract("day-2", now=LATER)
    assert await held(agent) == ["day-1"]


async def test_an_update_is_undone(agent: AsyncAgent) -> None:
    await move(agent, 1)
    for now in (LATER, T + DAY):  # At its very moment it leaves the old value no time.
        new = (await agent.supersede("day-1", text=f"Ana moved, {now}", mode="update", now=now)).replacement
        assert new is not None
        assert await held(agent) == [new.id]
        await agent.restore("day-1", now=now)
        assert await held(agent) == ["day-1"]


async def test_a_replacement_with_another_key_is_refused(agent: AsyncAgent) -> None:
    await move(agent, 1)
    await agent.observe("Ana has a boat", id="boat", now=LATER)
    await agent.observe("Bo lives at the mill", id="bo", key="address of Bo", now=LATER)
    for by in ("boat", "bo"):
        with pytest.raises(KeyMismatch, match="address of Ana") as refused:
            await agent.supersede("day-1", by=by, now=LATER)
        assert refused.value.remedy
    assert "day-1" in await held(agent)


async def test_what_rests_on_an_earlier_value_turns_stale_and_is_shown_the_latest(thinking: Open) -> None:
    def infer(task: object) -> object:
        return {"insights": [{"text": "Ana walks to work on Harbour Road", "evidence": numbers_of(task, "Ana")}]}

    model = Scripted(infer=infer)
    agent = await thinking(model)
    await move(agent, 1)
    await agent.observe("Ana works on Harbour Road", id="work", importance=5, now=LATER)
    (walks,) = (await agent.reflect(force=True, now=LATER)).reflections
    await move(agent, 3)
    assert (await agent.get(walks.id)).status == "stale"
    await move(agent, 2)  # Arrives late: changes nothing.
    assert await held(agent) == ["day-3", "work"]
    # The value is taken back before anybody recomputed: what rested on the one before it holds again.
    await agent.retract("day-3", now=LATER)
    assert (await agent.get(walks.id)).status == "stale"
    await agent.retract("day-2", now=LATER)
    assert (await agent.get(walks.id)).status == "active"
    await move(agent, 4)
    await agent.recompute(now=LATER)
    (task,) = model.asked(Reconsider)
    holds = {s.text for s in task.statements if s.true_until is None}
    assert holds == {"Ana lives at 4 Harbour Road", "Ana works on Harbour Road"}
    assert {s.text for s in task.statements} - holds == {"Ana lives at 1 Harbour Road"}
    assert (await agent.get(walks.id)).status == "retracted"
    # And recompute's answer is undone with the value that it was about.
    await agent.retract("day-4", now=LATER)
    assert (await agent.get(walks.id)).status == "active"


async def test_equal_text_every_day_keeps_what_rests_on_it(thinking: Open) -> None:
    text = "Ana lives at 1 Harbour Road"

    def infer(task: object) -> object:
        return {"insights": [{"text": "Ana is settled by the harbour", "evidence": numbers_of(task, "Ana")}]}

    agent = await thinking(Scripted(infer=infer))
    await move(agent, 1, text=text)
    await agent.observe("Ana works on Harbour Road", id="work", importance=5, now=LATER)
    (settled,) = (await agent.reflect(force=True, now=LATER)).reflections
    for day in (2, 3, 4):
        await move(agent, day, text=text.upper() if day == 3 else text)
    assert (await agent.get(settled.id)).status == "active"
    assert sorted(edge.target for edge in (await agent.explain(settled.id)).grounds_of(settled.id)) == ["day-4", "work"]
    # Retracting today's value: yesterday's says the same.
    await agent.retract("day-4", now=LATER)
    assert (await agent.get(settled.id)).status == "active"
    assert sorted(edge.target for edge in (await agent.explain(settled.id)).grounds_of(settled.id)) == ["day-3", "work"]
    # Away and back again: the evidence is as it was.
    await move(agent, 5, text="Ana lives on a boat")
    assert (await agent.get(settled.id)).status == "stale"
    await move(agent, 6, text=text)
    assert (await agent.get(settled.id)).status == "active"


async def test_many_values_at_once_leave_one(agent: AsyncAgent) -> None:
    await asyncio.gather(*(move(agent, day) for day in random.Random(3).sample(range(1, 13), 12)))
    assert await held(agent) == ["day-12"]
    with pytest.raises(NotNewest):
        await agent.restore("day-5", now=LATER)


async def test_the_same_again_changes_nothing(agent: AsyncAgent) -> None:
    for day in (1, 2, 1, 2):
        await move(agent, day)
    assert (await agent.info()).revision == 1
    assert [event.type for event in await agent.history("day-1")] == ["observed", "superseded"]
    assert [event.type for event in await agent.history("day-2")] == ["observed", "supersedes"]
