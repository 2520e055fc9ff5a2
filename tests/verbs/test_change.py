"""Superseding and retracting: what follows in the same transaction, at every depth, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import (
    AlreadyEnded,
    GraphmemError,
    InvalidInput,
    InvalidText,
    NotActive,
    RestsOnItself,
    SelfSupersession,
    UnknownAgent,
    UnknownMemory,
)

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = T + timedelta(days=1)


async def grow(
    thinking: Open, layers: list[tuple[str, tuple[str, ...]]], texts: dict[str, str]
) -> tuple[AsyncAgent, dict[str, str]]:
    """Observe the texts, then infer each insight from those whose text holds its words; ids by insight text."""
    queue = iter(layers)

    def infer(task: object) -> object:
        text, words = next(queue)
        return {"insights": [{"text": text, "evidence": numbers_of(task, *words)}]}

    agent = await thinking(Scripted(infer=infer))
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in texts.items()], now=T)
    ids: dict[str, str] = {}
    for n, (text, _) in enumerate(layers, start=1):
        (reflection,) = (await agent.reflect(force=True, now=T + timedelta(minutes=n))).reflections
        ids[text] = reflection.id
    return agent, ids


HARBOUR = {
    "o1": "Bo carries crates at the harbour",
    "o2": "Bo eats lunch at the harbour",
    "o3": "Ina sells bread on the square",
    "o4": "Ina bakes bread at dawn",
}
WORKS = "Bo works at the harbour"
BAKES = "Ina is a baker of bread"
BOTH = "Bo and Ina both work hard at harbour and bread"
TOWN = "Bo and Ina keep the town going, harbour and bread, both"
LAYERS = [
    (WORKS, ("crates", "lunch")),
    (BAKES, ("sells", "bakes")),
    (BOTH, (WORKS, BAKES)),
    (TOWN, (BOTH, "lunch")),
]


async def states(agent: AsyncAgent, ids: dict[str, str]) -> dict[str, str]:
    return {text: (await agent.get(id_)).status for text, id_ in ids.items()}


async def test_everything_above_turns_stale_in_the_same_transaction_and_nothing_else(thinking: Open) -> None:
    agent, ids = await grow(thinking, LAYERS, HARBOUR)
    report = await agent.supersede("o1", text="Bo carries crates at the mill", reason="he moved", now=LATER)
    assert [memory.id for memory in report.stale] == [ids[WORKS], ids[BOTH], ids[TOWN]]
    assert [memory.depth for memory in report.stale] == [1, 2, 3]
    assert await states(agent, ids) == {WORKS: "stale", BAKES: "active", BOTH: "stale", TOWN: "stale"}
    old = await agent.get("o1")
    assert (old.status, old.ended_at, old.text) == ("superseded", LATER, HARBOUR["o1"])
    assert report.memory == old
    assert report.revision == (await agent.info()).revision


async def test_the_causes_are_named_ground_by_ground(thinking: Open) -> None:
    agent, ids = await grow(thinking, LAYERS, HARBOUR)
    await agent.retract("o2", reason="it was Al", now=LATER)
    provenance = await agent.explain(ids[TOWN])
    causes = {(cause.memory, cause.because) for cause in provenance.causes if cause.until is None}
    assert causes == {
        (ids[WORKS], "o2"),
        (ids[BOTH], ids[WORKS]),
        (ids[TOWN], ids[BOTH]),
        (ids[TOWN], "o2"),
    }
    assert {cause.since for cause in provenance.causes} == {LATER}


async def test_a_second_cause_is_added_and_the_first_kept(thinking: Open) -> None:
    agent, ids = await grow(thinking, LAYERS, HARBOUR)
    await agent.retract("o1", now=LATER)
    report = await agent.retract("o3", now=LATER + timedelta(hours=1))
    assert [memory.id for memory in report.stale] == [ids[BAKES]]
    causes = {cause.because for cause in (await agent.explain(ids[BOTH])).causes if cause.memory == ids[BOTH]}
    assert causes == {ids[WORKS], ids[BAKES]}


async def test_the_replacement_of_a_correction_is_about_the_same_moment(agent: AsyncAgent) -> None:
    old = await agent.observe("Eli is 30", id="old", importance=8, session="s", place="bar", occurred_at=T, now=T)
    report = await agent.supersede("old", text="Eli is 31", now=LATER)
    new = report.replacement
    assert new is not None
    assert (new.kind, new.importance, new.importance_by) == ("fact", old.importance, old.importance_by)
    assert (new.occurred_at, new.recorded_at) == (T, LATER)
    assert (new.session, new.place) == ("s", "bar")  # pyright: ignore[reportArgumentType]
    (edge,) = (await agent.explain("old")).supersessions
    assert (edge.newer, edge.older, edge.mode, edge.by) == (new.id, "old", "correction", "caller")


async def test_an_update_begins_now(agent: AsyncAgent) -> None:
    await agent.observe("Eli lives in Rye", id="old", occurred_at=T, now=T)
    report = await agent.supersede("old", text="Eli lives in Hove", mode="update", reason="moved", now=LATER)
    assert report.replacement is not None
    assert report.replacement.occurred_at == LATER
    (edge,) = (await agent.explain("old")).supersessions
    assert (edge.mode, edge.reason, edge.at) == ("update", "moved", LATER)


async def test_an_existing_memory_can_take_the_place(agent: AsyncAgent) -> None:
    await agent.observe_many([{"text": "Rain on Monday", "id": "a"}, {"text": "Sun on Monday", "id": "b"}])
    report = await agent.supersede("a", by="b", reason="saw it")
    assert (report.memory.status, report.replacement and report.replacement.id) == ("superseded", "b")
    assert (await agent.info()).observations == 1


async def test_a_reflection_can_be_superseded_and_retracted_too(thinking: Open) -> None:
    agent, ids = await grow(thinking, LAYERS, HARBOUR)
    report = await agent.retract(ids[WORKS], now=LATER)
    assert [memory.id for memory in report.stale] == [ids[BOTH], ids[TOWN]]


async def test_runs_that_had_shown_the_memory_are_told(thinking: Open) -> None:
    agent, _ = await grow(thinking, LAYERS[:1], HARBOUR)
    report = await agent.retract("o1")
    assert [run.verb for run in report.used_by] == ["reflect"]
    fresh = await agent.observe("never shown", id="fresh")
    assert (await agent.retract(fresh.id)).used_by == ()


async def test_chains_of_supersession_name_their_head(agent: AsyncAgent) -> None:
    await agent.observe("v1", id="v1")
    v2 = (await agent.supersede("v1", text="v2")).replacement
    assert v2 is not None
    v3 = (await agent.supersede(v2.id, text="v3")).replacement
    assert v3 is not None
    with pytest.raises(AlreadyEnded, match=v3.id):
        await agent.supersede("v1", text="v4")
    with pytest.raises(AlreadyEnded, match=v3.id):
        await agent.retract("v1")
    assert (await agent.info()).observations == 1


# --- refused ---------------------------------------------------------------------------------------------------


async def refused(agent: AsyncAgent, error: type[GraphmemError], match: str, *args: object, **kwargs: object) -> None:
    """The call raises, and the graph is as before."""
    before = (await agent.info(), await agent.memories(limit=1000))
    with pytest.raises(error, match=match):
        await agent.supersede(*args, **kwargs)  # pyright: ignore[reportArgumentType]
    assert (await agent.info(), await agent.memories(limit=1000)) == before


async def test_b25_nothing_supersedes_itself(agent: AsyncAgent) -> None:
    await agent.observe("x", id="x")
    await refused(agent, SelfSupersession, "'x'", "x", by="x")
    assert [hit.memory.id for hit in await agent.retrieve("x")] == ["x"]
    # The same text again is a memory of its own, never the one that it replaces.
    replacement = (await agent.supersede("x", text="x")).replacement
    assert replacement is not None
    assert replacement.id != "x"
    assert [hit.memory.id for hit in await agent.retrieve("x")] == [replacement.id]


async def test_what_cannot_be_superseded_is_refused_and_nothing_written(
    agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]
) -> None:
    other = new_agent()
    await agent.observe_many([{"text": "a", "id": "a"}, {"text": "gone", "id": "gone"}, {"text": "c", "id": "c"}])
    await other.observe("theirs", id="theirs")
    await agent.retract("gone")
    await refused(agent, UnknownMemory, "'nope'", "nope", text="t")
    await refused(agent, UnknownMemory, "'theirs'", "theirs", text="t")
    await refused(agent, UnknownMemory, "'theirs'", "a", by="theirs")
    await refused(agent, UnknownMemory, "'nope'", "a", by="nope")
    await refused(agent, AlreadyEnded, "retracted already", "gone", text="t")
    await refused(agent, NotActive, "'gone' is retracted", "a", by="gone")
    await refused(agent, InvalidInput, "either", "a")
    await refused(agent, InvalidInput, "either", "a", text="t", by="c")
    await refused(agent, InvalidInput, "mode", "a", text="t", mode="oops")
    await refused(agent, InvalidText, "text", "a", text=" ")
    await refused(agent, InvalidInput, "reason", "a", text="t", reason="\x00")
    await refused(agent, InvalidInput, "reason", "a", text="t", reason=7)
    for id_ in ("", "  ", None, 7, "x" * 513):
        await refused(agent, InvalidInput, "id", id_, text="t")
    assert (await other.get("theirs")).status == "active"


async def test_an_unknown_agent_is_not_made_by_a_change(agent: AsyncAgent) -> None:
    for call in (agent.supersede("x", text="t"), agent.retract("x")):
        with pytest.raises((UnknownAgent, UnknownMemory)):
            await call
    with pytest.raises(UnknownAgent):
        await agent.info()


async def test_a_replacement_must_not_rest_on_what_it_replaces(thinking: Open) -> None:
    agent, ids = await grow(thinking, LAYERS, HARBOUR)
    await refused(agent, RestsOnItself, "rests on", "o1", by=ids[WORKS])
    await refused(agent, RestsOnItself, "rests on", "o1", by=ids[TOWN])
    await refused(agent, RestsOnItself, "rests on", ids[WORKS], by=ids[TOWN])
    # BAKES does not rest on o1.
    assert (await agent.supersede("o1", by=ids[BAKES])).replacement is not None


async def test_a_replacement_must_not_rest_on_it_through_a_chain(thinking: Open) -> None:
    """WORKS cites o1; o1 is replaced by o3. Then WORKS rests on o3, in the end."""
    agent, ids = await grow(thinking, LAYERS[:1], HARBOUR)
    await agent.supersede("o1", by="o3", now=LATER)
    assert (await agent.get(ids[WORKS])).status == "stale"
    with pytest.raises((RestsOnItself, NotActive)):
        await agent.supersede("o3", by=ids[WORKS], now=LATER)


async def test_two_supersessions_at_once_are_one(memory: AsyncMemory, agent: AsyncAgent) -> None:
    await agent.observe("contested", id="x")
    outcomes = await asyncio.gather(
        *(agent.supersede("x", text=f"version {n}") for n in range(8)), return_exceptions=True
    )
    won = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert len(won) == 1
    assert all(isinstance(outcome, AlreadyEnded) for outcome in outcomes if isinstance(outcome, BaseException))
    info = await agent.info()
    assert (info.observations, info.ended, info.revision) == (1, 1, 1)


# --- shapes ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_fan_of_10000_dependents_turns_stale(memory: AsyncMemory, agent: AsyncAgent) -> None:
    """Written directly, since what is tested is the change: 10,000 reflections that cite one observation."""
    await agent.observe_many([{"text": "the hub", "id": "hub"}, {"text": "the rim", "id": "rim"}], now=T)
    driver = memory._engine.store._driver
    rng_rows = [{"id": f"r{n:05}"} for n in range(10_000)]
    await driver.execute_query(
        """
        CYPHER 25
        UNWIND $rows AS row
        MATCH (hub:Memory {agentId: $agentId, id: 'hub'}), (rim:Memory {agentId: $agentId, id: 'rim'})
        CREATE (m:Memory:Reflection {
          agentId: $agentId, id: row.id, text: 'insight ' + row.id, kind: 'insight', status: 'active', held: true,
          depth: 1, importance: 5, importanceBy: 'rule', occurredAt: $now, recordedAt: $now, lastAccessedAt: $now,
          writtenBy: 'test', scopeToken: 's0', textHash: row.id, keywords: [],
          embedding: [i IN range(1, 384) | rand() - 0.5]
        })
        CREATE (m)-[:CITES {rank: 1, since: $now}]->(hub)
        CREATE (m)-[:CITES {rank: 2, since: $now}]->(rim)
        WITH count(*) AS written
        MATCH (agent:Agent {id: $agentId})
        SET agent.held = agent.held + written
        """,
        rows=rng_rows, agentId=agent.id, now=T, database_=memory.settings.database,
    )  # fmt: skip
    report = await agent.supersede("hub", text="the new hub", now=LATER)
    assert len(report.stale_ids) == 10_000
    assert [memory.id for memory in report.stale] == list(report.stale_ids[:1_000])
    info = await agent.info()
    assert (info.reflections, info.stale) == (10_000, 10_000)
