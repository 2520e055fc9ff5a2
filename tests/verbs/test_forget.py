"""Forgetting: the text is nowhere in the agent's graph afterwards, and nothing brings it back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import Forgotten, HasDependents, InvalidInput, NamesTerm, NotEnded, NotNewest, UnknownAgent
from graphmem.language.base import Reply, Task
from graphmem.language.prompts import InferInsights

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = T + timedelta(days=1)
SECRET = "The password of the boathouse is quokka-17"
TERM = "quokka-17"
QUOTES = "Tam opens the boathouse with quokka-17"
MEANS = "Tam knows how to open the boathouse"
TRUSTS = "Tam is trusted with the boathouse, by all"


async def everything(memory: AsyncMemory, agent: AsyncAgent) -> list[str]:
    """Every property of every node of an agent, and of every relationship at one, as text."""
    driver = memory._engine.store._driver
    found: list[str] = []
    for pattern, owned in (
        ("(x)", "$agent IN [x.agentId, x.id]"),
        ("(a)-[x]->(b)", "$agent IN [a.agentId, b.agentId]"),
    ):
        records, _, _ = await driver.execute_query(
            f"MATCH {pattern} WHERE {owned} RETURN properties(x) AS properties",
            agent=agent.id, database_=memory._engine.store.database,
        )  # fmt: skip
        found += [
            f"{name}={value!r}"
            for record in records
            for name, value in record["properties"].items()
            if name not in ("embedding", "agentId")
        ]
    return found


async def holding(memory: AsyncMemory, agent: AsyncAgent, word: str) -> list[str]:
    """Where a word stands."""
    return [text for text in await everything(memory, agent) if word.casefold() in text.casefold()]


async def build(thinking: Open) -> tuple[AsyncAgent, dict[str, str]]:
    """An observation, a reflection that quotes it, one that does not, and one above that."""
    layers = iter(
        [
            [(QUOTES, ("password", "Tam")), (MEANS, ("password", "oars"))],
            [(TRUSTS, (MEANS, "oars"))],
        ]
    )

    def infer(task: object) -> object:
        return {"insights": [{"text": text, "evidence": numbers_of(task, *words)} for text, words in next(layers)]}

    agent = await thinking(Scripted(infer=infer))
    await agent.observe_many(
        [
            {"text": SECRET, "id": "o1", "importance": 5, "source": "Ina", "keywords": ["quokka-17", "boathouse"]},
            {"text": "Tam carries the oars", "id": "o2", "importance": 5},
            {"text": f"“{SECRET.lower()}!” says Ina", "id": "o3", "importance": 5, "kind": "utterance"},
            {"text": "The quokka-171 is a boat", "id": "o4", "importance": 5, "source": "quokka-17"},
        ],
        now=T,
    )  # fmt: skip
    ids: dict[str, str] = {}
    for _ in range(2):
        for reflection in (await agent.reflect(force=True, now=T)).reflections:
            ids[reflection.text] = reflection.id
    assert set(ids) == {QUOTES, MEANS, TRUSTS}
    return agent, ids


async def test_b29_the_text_and_the_term_are_nowhere_afterwards(thinking: Open, memory: AsyncMemory) -> None:
    agent, ids = await build(thinking)
    await agent.supersede("o2", text="Tam carries the sails", reason=f"not oars, {TERM}", now=T)
    assert await holding(memory, agent, TERM)
    plan = await agent.forget("o1", terms=[TERM.upper()], dry_run=True, now=LATER)
    assert plan.dry_run
    assert {m.id for m in plan.forgotten} == {"o1", "o3", ids[QUOTES]}
    assert await agent.get("o1") in plan.forgotten
    report = await agent.forget("o1", terms=[TERM.upper()], now=LATER)
    assert (report.forgotten, report.stripped, report.stale) == (plan.forgotten, plan.stripped, plan.stale)
    assert {(item.where, item.property) for item in report.stripped} >= {
        ("Memory", "source"), ("Change", "reason"), ("SUPERSEDES", "reason")
    }  # fmt: skip
    left = [text for text in await holding(memory, agent, TERM) if "quokka-171" not in text]
    assert left == []
    assert await holding(memory, agent, "password of") == []
    # A tombstone: id and times, no text and no vector.
    tombstone = await agent.get("o1")
    assert (tombstone.status, tombstone.text, tombstone.keywords) == ("forgotten", "", ())
    assert (tombstone.occurred_at, tombstone.ended_at, tombstone.embedding_model) == (T, LATER, None)
    # What did not quote it is stale and told of as possibly saying it in other words; recompute drops the evidence.
    assert {m.id for m in report.dependents} == {ids[MEANS], ids[TRUSTS]}
    assert (await agent.get(ids[MEANS])).status == "stale"
    assert "o1" not in [hit.memory.id for hit in await agent.retrieve("password of the boathouse", touch=False)]
    await agent.recompute(now=LATER)
    assert (await agent.get(ids[MEANS])).status == "retracted"
    assert [event.type for event in await agent.history("o1")] == ["observed", "forgotten"]
    # The boat's own text stays; its source is gone, and it is embedded again without it.
    assert (await agent.get("o4")).text == "The quokka-171 is a boat"
    await memory.work_once(agent=agent.id, now=LATER)
    assert (await agent.get("o4")).embedding_model is not None


@pytest.mark.report("B29", "B42")
async def test_a_forgotten_id_is_not_observed_again_and_nothing_revives_it(thinking: Open) -> None:
    agent, ids = await build(thinking)
    await agent.forget("o1", now=LATER)
    for text in (SECRET, "something else"):
        with pytest.raises(Forgotten, match="o1") as refused:
            await agent.observe_many([{"text": "new", "id": "n1"}, {"text": text, "id": "o1"}], now=LATER)
        assert (refused.value.ids, refused.value.positions) == (("o1",), (1,))
    with pytest.raises(NotEnded):
        await agent.restore("o1", now=LATER)
    again = await agent.forget("o1", now=LATER)  # As a program may that was cut off.
    assert again.forgotten == ()
    assert (await agent.get(ids[QUOTES])).text == QUOTES  # It merely rests on it, without the term.


async def test_dependents_are_retracted_or_keep_it_from_being_forgotten(thinking: Open) -> None:
    agent, ids = await build(thinking)
    with pytest.raises(HasDependents) as refused:
        await agent.forget("o1", dependents="refuse", now=LATER)
    assert refused.value.remedy
    assert (await agent.get("o1")).status == "active"
    plan = await agent.forget("o1", dependents="retract", dry_run=True, now=LATER)
    report = await agent.forget("o1", dependents="retract", now=LATER)
    assert set(report.retracted) == set(plan.retracted) == {ids[QUOTES], ids[MEANS], ids[TRUSTS]}
    assert (await agent.get(ids[TRUSTS])).status == "retracted"


async def test_an_id_or_key_that_holds_a_term_is_refused(agent: AsyncAgent) -> None:
    await agent.observe("Ina has a boat", id="boat of Ina", now=T)
    await agent.observe("Tam has none", id="o1", key="boat of Tam", now=T)
    for term, name in (("ina", "boat of Ina"), ("TAM", "boat of Tam")):
        with pytest.raises(NamesTerm, match=name):
            await agent.forget("o1", terms=[term], now=LATER)
    assert (await agent.get("o1")).status == "active"
    for terms in ([" "], "Ina", [7]):
        with pytest.raises(InvalidInput, match="terms"):
            await agent.forget("o1", terms=terms, now=LATER)  # pyright: ignore[reportArgumentType]


async def test_short_texts_are_forgotten_only_where_they_stand_alone(agent: AsyncAgent) -> None:
    await agent.observe("It rains", id="o1", now=T)
    await agent.observe("it  rains.", id="o2", now=T)
    await agent.observe("It rains on the harbour", id="o3", now=T)
    report = await agent.forget("o1", now=LATER)
    assert {memory.id for memory in report.forgotten} == {"o1", "o2"}


async def test_forgetting_the_head_of_a_chain_or_the_latest_value_revives_nothing(agent: AsyncAgent) -> None:
    await agent.observe("Bo lives in town", id="o1", now=T)
    new = (await agent.supersede("o1", text="Bo lives by the sea", now=T)).replacement
    assert new is not None
    await agent.forget(new.id, now=LATER)
    assert (await agent.get("o1")).status == "superseded"
    with pytest.raises(NotNewest, match="forgotten"):
        await agent.restore("o1", now=LATER)
    for day in (1, 2):
        await agent.observe(f"Ana is in room {day}", id=f"k{day}", key="room", occurred_at=T + timedelta(days=day))
    await agent.forget("k2", now=LATER)
    assert await agent.memories(status="active") == ()
    await agent.observe("Ana is in room 0", id="k0", key="room", occurred_at=T)
    assert await agent.memories(status="active") == ()
    await agent.observe("Ana is in room 3", id="k3", key="room", occurred_at=T + timedelta(days=3))
    assert [memory.id for memory in await agent.memories(status="active")] == ["k3"]
    await agent.retract("k3", now=LATER)
    assert await agent.memories(status="active") == ()


async def test_what_other_agents_hold_is_named_and_not_touched(agent: AsyncAgent, memory: AsyncMemory) -> None:
    other = memory.agent(f"other of {agent.id}")
    await agent.observe(SECRET, id="o1", now=T)
    await other.observe(SECRET, id="x1", now=T)
    report = await agent.forget("o1", now=LATER)
    assert (other.id, "x1") in [(copy.agent_id, copy.id) for copy in report.copies]
    assert (await other.get("x1")).text == SECRET
    await memory.forget_agent(other.id)


class Late:
    """A language model that answers its insights only when it is let to, and quotes what it was shown."""

    name = "late"

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()
        self.inner = Scripted(
            infer=lambda task: {
                "insights": [
                    {"text": QUOTES, "evidence": numbers_of(task, "Tam", "oars")},
                    {"text": f"{TERM} opens all", "evidence": [97]},
                ]
            }
        )

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        if isinstance(task, InferInsights):
            self.asked.set()
            await self.go_on.wait()
        return await self.inner.reply(task)


async def test_b29_a_reflection_that_ends_late_brings_nothing_back(thinking: Open, memory: AsyncMemory) -> None:
    model = Late()
    agent = await thinking(model)
    await agent.observe_many(
        [
            {"text": SECRET, "id": "o1", "importance": 5},
            {"text": "Tam carries the oars", "id": "o2", "importance": 5},
            {"text": "Tam minds the oars", "id": "o3", "importance": 5},
        ],
        now=T,
    )
    late = asyncio.create_task(agent.reflect(force=True, now=T))
    await model.asked.wait()
    await agent.forget("o1", terms=[TERM], now=LATER)
    model.go_on.set()
    report = await late
    assert report.outcome == "no_insight"
    assert await holding(memory, agent, TERM) == []
    assert await agent.memories(type="reflection") == ()


async def test_a_whole_agent_is_forgotten(thinking: Open, memory: AsyncMemory) -> None:
    agent, _ = await build(thinking)
    plan = await memory.forget_agent(agent.id, dry_run=True)
    assert plan.memories == 7
    assert len(await agent.memories()) == 7
    assert (await memory.forget_agent(agent.id)).memories == 7
    assert await holding(memory, agent, TERM) == []
    assert await everything(memory, agent) == []
    with pytest.raises(UnknownAgent):
        await memory.forget_agent(agent.id)
    assert (await memory.work_once(agent=agent.id)).failures == ()
