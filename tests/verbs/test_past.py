"""As of a moment: what was believed then, and on what, through everything that happened since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidTime, UnknownMemory
from graphmem.language.prompts import Reconsider

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HARBOUR, MILL, QUAY = "Bo works at the harbour", "Bo works at the mill", "Bo works at the quay"
LUNCH = "Bo eats lunch at the harbour"
PLACE, NEARBY = "Bo belongs to the harbour front", "Bo lives near the harbour"


def day(number: float) -> datetime:
    return T + timedelta(days=number)


async def seen(agent: AsyncAgent, at: datetime) -> set[str]:
    """Texts of all that was believed."""
    hits = await agent.retrieve("Bo", k=50, as_of=at)
    assert hits.as_of == hits.now == at
    assert hits.exact is None
    assert {hit.memory.status for hit in hits} <= {"active"}
    return {hit.memory.text for hit in hits}


async def build(thinking: Open, outcomes: list[dict[str, object]]) -> tuple[AsyncAgent, str]:
    """A reflection on two observations, and what recompute will make of it each time."""
    answers = iter(outcomes)

    def reconsider(task: Reconsider) -> object:
        return {"evidence": [s.number for s in task.statements], **next(answers)}

    model = Scripted(
        infer=lambda task: {"insights": [{"text": PLACE, "evidence": numbers_of(task, "harbour")}]},
        reconsider=reconsider,
    )
    agent = await thinking(model)
    await agent.observe(HARBOUR, id="o1", importance=5, now=T)
    await agent.observe(LUNCH, id="o2", importance=5, now=T)
    (reflection,) = (await agent.reflect(force=True, now=day(1))).reflections
    return agent, reflection.id


async def test_through_confirmed_revised_restored_and_forgotten(thinking: Open) -> None:
    agent, place = await build(
        thinking, [{"verdict": "confirmed"}, {"verdict": "revised", "text": NEARBY}, {"verdict": "confirmed"}]
    )
    await agent.supersede("o1", text=QUAY, mode="update", now=day(2))
    await agent.recompute(now=day(3))
    quay = (await agent.explain("o1")).supersessions[0].newer
    await agent.supersede(quay, text=MILL, now=day(4))
    await agent.recompute(now=day(5))
    assert (await agent.get(place)).status == "superseded"
    await agent.restore(quay, now=day(6))
    assert (await agent.get(place)).status == "active"
    expected = {
        -1.0: set[str](),
        0.5: {HARBOUR, LUNCH},
        1.5: {HARBOUR, LUNCH, PLACE},
        2.5: {QUAY, LUNCH},
        3.5: {QUAY, LUNCH, PLACE},
        4.5: {MILL, LUNCH},
        5.5: {MILL, LUNCH, NEARBY},
        6.5: {QUAY, LUNCH, PLACE},
    }
    assert {at: await seen(agent, day(at)) for at in expected} == expected
    # At the very moment of a change it holds already.
    assert await seen(agent, day(2)) == expected[2.5]
    await agent.forget("o2", now=day(7))
    texts = {at: texts - {LUNCH} for at, texts in expected.items()}
    assert {at: await seen(agent, day(at)) for at in texts} == texts
    assert await seen(agent, day(7.5)) == {QUAY}


async def test_explained_as_it_was(thinking: Open) -> None:
    agent, place = await build(thinking, [{"verdict": "confirmed"}])
    await agent.supersede("o1", text=QUAY, reason="moved", now=day(2))
    await agent.recompute(now=day(3))
    await agent.retract("o2", now=day(4))
    then = await agent.explain(place, as_of=day(1.5))
    assert {ground.target for ground in then.grounds_of(place)} == {"o1", "o2"}
    assert {memory.id: memory.status for memory in then.memories.values()} == {
        place: "active", "o1": "active", "o2": "active"
    }  # fmt: skip
    assert (then.as_of, then.supersessions, then.causes) == (day(1.5), (), ())
    then = await agent.explain(place, as_of=day(2.5))
    assert then.memories[place].status == "stale"
    assert [(cause.because, cause.until) for cause in then.causes] == [("o1", None)]
    assert (then.memories["o1"].status, then.memories["o1"].ended_at) == ("superseded", day(2))
    assert [edge.older for edge in then.supersessions] == ["o1"]
    then = await agent.explain(place, as_of=day(3.5))
    assert then.memories[place].status == "active"
    assert "o1" not in {ground.target for ground in then.grounds_of(place)}
    assert "o2" in {ground.target for ground in then.grounds_of(place)}
    with pytest.raises(UnknownMemory, match="had no memory") as refused:
        await agent.explain(place, as_of=day(0.5))
    assert refused.value.remedy


async def test_a_late_arrival_was_not_known_and_keyed_values_held_in_their_time(agent: AsyncAgent) -> None:
    await agent.observe("Bo is in room 1", id="k1", key="room", occurred_at=day(0), now=day(1))
    await agent.observe("Bo is in room 3", id="k3", key="room", occurred_at=day(3), now=day(3))
    await agent.observe("Bo is in room 2", id="k2", key="room", occurred_at=day(2), now=day(5))
    await agent.retract("k3", now=day(6))
    assert await seen(agent, day(2)) == {"Bo is in room 1"}
    assert await seen(agent, day(5.5)) == {"Bo is in room 3"}
    assert await seen(agent, day(6.5)) == {"Bo is in room 2"}
    assert [s.newer for s in (await agent.explain("k1", as_of=day(4))).supersessions] == ["k3"]


async def test_what_was_made_for_a_change_that_was_undone(agent: AsyncAgent) -> None:
    await agent.observe(HARBOUR, id="o1", now=T)
    await agent.supersede("o1", text=MILL, now=day(1))
    await agent.restore("o1", now=day(2))
    assert [await seen(agent, day(at)) for at in (0.5, 1.5, 2.5)] == [{HARBOUR}, {MILL}, {HARBOUR}]


async def test_it_touches_nothing_and_takes_recency_from_what_happened(agent: AsyncAgent) -> None:
    await agent.observe("Bo sings", id="old", occurred_at=day(-10), importance=5, now=day(0))
    await agent.observe("Bo sings again", id="new", occurred_at=day(0), importance=5, now=day(0))
    await agent.retrieve("Bo sings", k=1, now=day(5))
    before = await agent.memories()
    hits = await agent.retrieve("Bo sings", as_of=day(1))
    assert await agent.memories() == before
    recency = {hit.memory.id: hit.recency.raw for hit in hits}
    assert recency == pytest.approx({"old": 0.995 ** (11 * 24), "new": 0.995**24})


async def test_a_bad_time_is_refused(agent: AsyncAgent) -> None:
    await agent.observe(HARBOUR, id="o1", now=T)
    for as_of in ("yesterday", "2026-03-01T12:00"):
        with pytest.raises(InvalidTime):
            await agent.retrieve("Bo", as_of=as_of)
        with pytest.raises(InvalidTime):
            await agent.explain("o1", as_of=as_of)
