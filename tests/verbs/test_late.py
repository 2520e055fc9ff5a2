"""What arrives late, or is dated before what is known: belief over the agent's time is that of any other order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem.async_agent import AsyncAgent
from graphmem.language.prompts import Reconsider

T = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)
BELONGS = "Anna belongs to Oslo"
CITIES = {"Oslo": 0, "Rome": 30, "Paris": 60}


def day(number: float) -> datetime:
    return T + timedelta(days=number)


async def believed(agent: AsyncAgent, at: datetime) -> set[str]:
    return {hit.memory.id for hit in await agent.retrieve("Anna lives", k=200, as_of=at)}


async def consistent(agent: AsyncAgent) -> None:
    """Nothing befalls a memory before the agent has it, and what is told of one is told in order."""
    memories = {memory.id: memory for memory in await agent.memories(limit=10_000)}
    for memory in memories.values():
        events = await agent.history(memory.id)
        moments = [event.at for event in events]
        assert moments[0] == memory.recorded_at
        assert moments == sorted(moments), memory.text
        ends = [event.at for event in events if event.type == "superseded"]
        if memory.status == "superseded":
            assert memory.ended_at in ends
        for event in events:
            if event.type == "supersedes" and event.other is not None:
                assert event.at >= memories[event.other].recorded_at
    told = [entry.event.at for entry in await agent.timeline(limit=10_000)]
    assert told == sorted(told)
    seqs = [(entry.seq, entry.ordinal) for entry in await agent.log(limit=10_000)]
    assert seqs == sorted(set(seqs), reverse=True)


@pytest.mark.parametrize("order", list(permutations(CITIES)))
async def test_a_late_fact_is_believed_until_the_next_one_was_observed(
    agent: AsyncAgent, order: tuple[str, ...]
) -> None:
    for city in order:
        await agent.observe(f"Anna lives in {city}", id=city, key="home of Anna", importance=5, now=day(CITIES[city]))
    seen = {at: await believed(agent, day(at)) for at in (-1, 15, 45, 75)}
    assert seen == {-1: set(), 15: {"Oslo"}, 45: {"Rome"}, 75: {"Paris"}}
    (rome,) = [event for event in await agent.history("Rome") if event.type == "supersedes"]
    assert (rome.at, rome.other) == (day(30), "Oslo")
    assert [(event.at, event.other) for event in await agent.history("Paris") if event.type == "supersedes"] == [
        (day(60), "Rome")
    ]
    assert [(await agent.get(city)).ended_at for city in CITIES] == [day(30), day(60), None]
    for at, (newer, older) in {45: ("Rome", "Oslo"), 75: ("Paris", "Rome")}.items():
        edges = (await agent.explain(older, as_of=day(at))).supersessions
        assert (newer, older) in {(edge.newer, edge.older) for edge in edges}
    await consistent(agent)


@dataclass
class Value:
    """A value of a key, and the days from which it was retracted and held again in turn."""

    id: str
    key: str
    known: int
    happened: int
    turns: list[int] = field(default_factory=list[int])
    forgotten: bool = False

    def stands(self, at: float) -> bool:
        return self.known <= at and sum(turn <= at for turn in self.turns) % 2 == 0


def oracle(values: list[Value], at: float) -> set[str]:
    """Of each key the last that stood then; of what was forgotten nothing is told."""
    last = {value.key: value for value in sorted(values, key=lambda v: (v.happened, v.id)) if value.stands(at)}
    return {value.id for value in last.values() if not value.forgotten}


@pytest.mark.parametrize("seed", range(3))
async def test_any_order_of_arrival_gives_the_belief_that_the_times_say(agent: AsyncAgent, seed: int) -> None:
    chance = random.Random(seed)
    last, arrived = 20, list[Value]()
    for key in (f"key {number}" for number in range(8)):
        known = chance.sample(range(last), 5)
        values = [
            Value(f"{key}-{n}", key, at, at if chance.random() < 0.6 else chance.randrange(last))
            for n, at in enumerate(known)
        ]
        for value in values:
            await agent.observe(
                f"Anna lives at {value.id}", id=value.id, key=key, importance=5,
                occurred_at=day(value.happened), now=day(value.known),
            )  # fmt: skip
            arrived.append(value)
            if chance.random() < 0.4:
                of_key = sorted((v for v in arrived if v.key == key), key=lambda v: (v.happened, v.id))
                held = [v for v in of_key if len(v.turns) % 2 == 0]
                if held and chance.random() < 0.7:
                    at = chance.randrange(last)
                    await agent.retract(held[-1].id, now=day(at))
                    held[-1].turns.append(max(at, held[-1].known, *held[-1].turns))
                elif len(of_key[-1].turns) % 2:
                    at = chance.randrange(last)
                    await agent.restore(of_key[-1].id, now=day(at))
                    of_key[-1].turns.append(max(at, *of_key[-1].turns))
    moments = [n + 0.5 for n in range(-1, last + 1)]
    assert {at: await believed(agent, day(at)) for at in moments} == {at: oracle(arrived, at) for at in moments}
    assert {memory.id for memory in await agent.memories(status="active")} == oracle(arrived, last)
    await consistent(agent)
    for value in chance.sample(arrived, 5):
        await agent.forget(value.id, now=day(last))
        value.forgotten = True
    assert {at: await believed(agent, day(at)) for at in moments} == {at: oracle(arrived, at) for at in moments}


async def test_what_rests_on_a_value_is_stale_since_that_ended(thinking: Open) -> None:
    model = Scripted(infer=lambda task: {"insights": [{"text": BELONGS, "evidence": numbers_of(task, "Oslo")}]})
    agent = await thinking(model)
    await agent.observe("Anna lives in Oslo", id="Oslo", key="home", importance=5, now=day(0))
    await agent.observe("Anna lives by the sea", id="sea", importance=5, now=day(0))
    (insight,) = (await agent.reflect(force=True, now=day(10))).reflections
    await agent.observe("Anna lives in Paris", id="Paris", key="home", importance=5, now=day(60))
    assert await believed(agent, day(45)) == {"Oslo", "sea", insight.id}
    await agent.observe("Anna lives in Rome", id="Rome", key="home", importance=5, now=day(30))
    assert await believed(agent, day(15)) == {"Oslo", "sea", insight.id}
    assert await believed(agent, day(45)) == {"Rome", "sea"}
    assert [(event.type, event.at) for event in await agent.history(insight.id)] == [
        ("inferred", day(10)),
        ("stale", day(30)),
    ]
    await agent.retract("Paris", now=day(70))
    assert await believed(agent, day(75)) == {"Rome", "sea"}
    await consistent(agent)


async def test_a_change_is_not_dated_before_what_it_changes(agent: AsyncAgent) -> None:
    await agent.observe("Anna lives in Oslo", id="old", now=day(0))
    await agent.observe("Anna lives in Rome", id="new", now=day(30))
    report = await agent.supersede("old", by="new", mode="update", now=day(10))
    assert report.memory.ended_at == day(30)
    assert [await believed(agent, day(at)) for at in (5, 20, 35)] == [{"old"}, {"old"}, {"new"}]
    await agent.restore("old", now=day(1))
    assert [await believed(agent, day(at)) for at in (5, 20, 35)] == [{"old"}, {"old"}, {"old", "new"}]
    await agent.retract("new", now=day(2))
    assert [await believed(agent, day(at)) for at in (5, 20, 35)] == [{"old"}] * 3
    await consistent(agent)


async def test_what_is_recomputed_is_not_believed_before_its_grounds(thinking: Open) -> None:
    def reconsider(task: Reconsider) -> object:
        return {"verdict": "revised", "text": "Anna belongs to Rome", "evidence": numbers_of(task, "Rome")}

    model = Scripted(
        infer=lambda task: {"insights": [{"text": BELONGS, "evidence": numbers_of(task, "Oslo")}]},
        reconsider=reconsider,
    )
    agent = await thinking(model)
    await agent.observe("Anna lives in Oslo", id="Oslo", key="home", importance=5, now=day(10))
    await agent.observe("Anna lives by the sea", id="sea", importance=5, now=day(0))
    (insight,) = (await agent.reflect(force=True, now=day(1))).reflections
    assert insight.recorded_at == day(10)
    await agent.observe("Anna lives in Rome", id="Rome", key="home", importance=5, now=day(30))
    (item,) = (await agent.recompute(now=day(20))).items
    assert item.outcome == "revised"
    assert item.new_id is not None
    assert [await believed(agent, day(at)) for at in (5, 15, 25, 35)] == [
        {"sea"}, {"sea", "Oslo", insight.id}, {"sea", "Oslo", insight.id}, {"sea", "Rome", item.new_id},
    ]  # fmt: skip
    await consistent(agent)
