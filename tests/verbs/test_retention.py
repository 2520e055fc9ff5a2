"""Retention: what is put away, what stays, what that does to everything else, and that nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import (
    InvalidInput,
    InvalidTime,
    NotActive,
    NotArchived,
    NotEnded,
    UnknownAgent,
    UnknownMemory,
)
from graphmem.models import RECALL, Changed, Weights

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NOW = T + timedelta(days=100)
ALONE = Weights(relevance=1, recency=0, importance=0)


async def fill(agent: AsyncAgent) -> None:
    """Seven observations: three that a policy of 90 days below 3 is about, four that it is not."""
    await agent.observe_many(
        [
            {"text": "Bo saw a gull by the harbour", "id": "gull", "importance": 1},
            {"text": "Bo heard the ferry by the harbour", "id": "ferry", "importance": 2},
            {"text": "Bo swept the harbour steps", "id": "steps", "importance": 2},
            {"text": "Bo lost the harbour keys", "id": "keys", "importance": 3},
        ],
        now=T,
    )
    await agent.observe("Bo ate at the harbour", id="recent", importance=1, now=NOW - timedelta(days=89))
    await agent.observe("Bo once ate at the harbour", id="told", importance=1, occurred_at=T, now=NOW)


async def found(agent: AsyncAgent, **given: Any) -> set[str]:
    return {hit.memory.id for hit in await agent.retrieve("Bo harbour", k=50, touch=False, **given)}


async def test_what_is_old_unimportant_and_unused_is_put_away_and_comes_back(agent: AsyncAgent) -> None:
    await fill(agent)
    policy: dict[str, Any] = {"older_than": "90d", "importance_below": 3, "now": NOW}
    before = await agent.info()
    plan = await agent.archive(**policy, dry_run=True)
    assert (set(plan.ids), plan.kept, plan.revision, plan.before) == (
        {"gull", "ferry", "steps"}, {}, None, NOW - timedelta(days=90)
    )  # fmt: skip
    assert {memory.status for memory in plan.memories} == {"active"}
    assert await agent.info() == before
    report = await agent.archive(**policy)
    assert set(report.ids) == {"gull", "ferry", "steps"}
    assert {memory.status for memory in report.memories} == {"archived"}
    # Out of retrieval in both ways of scoring, under every filter, out of the lists and the count; not ended.
    left = {"keys", "recent", "told"}
    assert await found(agent, now=NOW) == left
    assert await found(agent, now=NOW, profile=RECALL) == left
    assert await found(agent, now=NOW, until=T + timedelta(days=1)) == {"keys", "told"}
    info = await agent.info()
    assert (info.observations, info.archived, info.ended) == (3, 3, 0)
    assert {memory.id for memory in await agent.memories(status="archived")} == {"gull", "ferry", "steps"}
    archived = await agent.get("gull")
    assert (archived.status, archived.ended_at, archived.text) == ("archived", None, "Bo saw a gull by the harbour")
    # Looking back it is still what was believed then.
    assert "gull" in await found(agent, as_of=T + timedelta(days=1))
    assert await found(agent, as_of=NOW + timedelta(days=1)) == left
    assert (await agent.explain("gull", as_of=NOW)).memories["gull"].status == "archived"
    # Again: nothing more. The same observation again is known, and stays where it is.
    assert (await agent.archive(**policy)).ids == ()
    again = await agent.observe("Bo saw a gull by the harbour", id="gull", importance=1, now=NOW)
    assert again.status == "archived"
    # Out again, as it was.
    assert (await agent.unarchive(["gull"], now=NOW)).ids == ("gull",)
    assert await found(agent, now=NOW) == left | {"gull"}
    assert set((await agent.unarchive(now=NOW)).ids) == {"ferry", "steps"}
    assert (await agent.unarchive(now=NOW)).ids == ()
    assert await found(agent, now=NOW, profile=RECALL) == left | {"gull", "ferry", "steps"}
    after = await agent.info()
    assert (after.observations, after.archived, after.ended) == (before.observations, 0, 0)
    assert [event.type for event in await agent.history("gull")] == ["observed", "archived", "restored"]
    entries = [entry for entry in await agent.log() if entry.memory.id == "gull"]
    assert [(entry.verb, entry.undone) for entry in entries] == [("unarchive", False), ("archive", True)]
    assert entries[1].reason.endswith("importance below 3")


async def test_what_was_retrieved_since_stays(agent: AsyncAgent) -> None:
    await fill(agent)
    await agent.retrieve("Bo saw a gull by the harbour", k=1, weights=ALONE, now=NOW - timedelta(days=5))
    assert (await agent.get("gull")).last_accessed_at > T
    assert set((await agent.archive(older_than=timedelta(days=90), importance_below=3, now=NOW)).ids) == {
        "ferry", "steps"
    }  # fmt: skip


async def test_what_anything_rests_on_stays_also_when_that_has_ended(thinking: Open) -> None:
    model = Scripted(
        infer=lambda task: {
            "insights": [{"text": "Bo is often by the harbour", "evidence": numbers_of(task, "gull", "ferry")}]
        }
    )
    agent = await thinking(model)
    await fill(agent)
    (insight,) = (await agent.reflect(force=True, now=T)).reflections
    policy: dict[str, Any] = {"older_than": "90d", "importance_below": 11, "now": NOW}
    plan = await agent.archive(**policy, dry_run=True)
    assert set(plan.ids) == {"steps", "keys"}
    assert plan.kept == {"ground": 2}
    assert insight.id not in plan.ids  # Observations only.
    await agent.retract(insight.id, now=NOW)
    assert (await agent.archive(**policy)).kept == {"ground": 2}
    assert (await agent.get("gull")).status == "active"
    await agent.restore(insight.id, now=NOW)
    assert (await agent.get(insight.id)).status == "active"


async def test_values_of_keys_and_chains_of_corrections_stay(agent: AsyncAgent) -> None:
    await agent.observe("Bo is in room 1", id="room", key="room", importance=1, now=T)
    await agent.observe("Bo has a dog", id="dog", importance=1, now=T)
    changed = await agent.supersede("dog", text="Bo has a cat", now=T)
    await agent.observe("Bo has a hat", id="hat", importance=1, now=T)
    await agent.observe("Bo has a hut", id="hut", importance=1, now=T)
    await agent.supersede("hat", by="hut", now=T)
    await agent.restore("hat", now=T)
    report = await agent.archive(older_than="1d", importance_below=11, now=NOW)
    assert (report.ids, report.kept) == ((), {"key": 1, "chain": 3})
    assert changed.replacement is not None
    assert (await agent.get(changed.replacement.id)).status == "active"
    await agent.restore("dog", now=NOW)
    await agent.observe("Bo is in room 2", key="room", now=NOW)
    assert (await agent.get("room")).status == "superseded"


async def test_what_is_archived_is_changed_by_taking_it_out_first_or_forgotten(agent: AsyncAgent) -> None:
    await fill(agent)
    await agent.archive(older_than="90d", importance_below=3, now=NOW)
    with pytest.raises(NotActive, match="archived") as refused:
        await agent.retract("gull", now=NOW)
    assert "unarchive gull" in refused.value.remedy
    with pytest.raises(NotActive, match="archived"):
        await agent.supersede("gull", text="a tern", now=NOW)
    with pytest.raises(NotActive, match="archived"):
        await agent.supersede("keys", by="gull", now=NOW)
    with pytest.raises(NotEnded, match="archived"):
        await agent.restore("gull", now=NOW)
    report = await agent.forget("gull", now=NOW)
    assert [memory.id for memory in report.forgotten] == ["gull"]
    assert ((await agent.info()).archived, (await agent.info()).ended) == (2, 1)
    with pytest.raises(NotArchived, match="forgotten, not archived"):
        await agent.unarchive(["ferry", "gull"], now=NOW)
    assert (await agent.get("ferry")).status == "archived"
    with pytest.raises(UnknownMemory):
        await agent.unarchive(["nobody"], now=NOW)


async def test_listeners_are_told_and_work_has_nothing_to_do_for_what_is_away(
    memory: AsyncMemory, agent: AsyncAgent
) -> None:
    await fill(agent)
    heard: list[Changed] = []
    end = memory.on_change(heard.append)
    await agent.archive(older_than="90d", importance_below=3, now=NOW)
    await agent.unarchive(["gull"], now=NOW)
    end()
    mine = [changed for changed in heard if changed.agent_id == agent.id]
    assert [(changed.verb, len(changed.ended), changed.held) for changed in mine] == [
        ("archive", 3, ()), ("unarchive", 0, ("gull",))
    ]  # fmt: skip
    assert agent.id not in (await memory.work_once(agent=agent.id, now=NOW)).pending


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ({"older_than": "soon", "importance_below": 3}, InvalidTime),
        ({"older_than": 90, "importance_below": 3}, InvalidTime),
        ({"older_than": timedelta(days=-1), "importance_below": 3}, InvalidTime),
        ({"older_than": "999999999w", "importance_below": 3}, InvalidTime),
        ({"older_than": "999999w", "importance_below": 3}, InvalidTime),
        ({"older_than": "90d", "importance_below": 1}, InvalidInput),
        ({"older_than": "90d", "importance_below": 12}, InvalidInput),
        ({"older_than": "90d", "importance_below": True}, InvalidInput),
        ({"older_than": "90d", "importance_below": 3}, UnknownAgent),
    ],
)
async def test_policies_that_are_refused(policy: dict[str, Any], error: type[Exception], agent: AsyncAgent) -> None:
    with pytest.raises(error):
        await agent.archive(**policy)


async def test_more_than_one_batch(agent: AsyncAgent) -> None:
    await agent.observe_many([{"text": f"gull {n}", "id": f"g{n}", "importance": 1} for n in range(1_050)], now=T)
    report = await agent.archive(older_than="90d", importance_below=2, now=NOW)
    assert (len(report.ids), len(report.memories), report.revision) == (1_050, 100, 2)
    assert len(await agent.retrieve("gull", now=NOW)) == 0
    assert len((await agent.unarchive(now=NOW)).ids) == 1_050
    assert len(await agent.retrieve("gull", now=NOW)) == 10
