"""The timeline: all that happened to an agent's memories, in order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from scripted import Open
from verbs.test_change import LATER, T
from verbs.test_recompute import build

from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput


async def test_observed_inferred_stale_and_recomputed_in_order(thinking: Open) -> None:
    agent, ids, _ = await build(thinking)
    report = await agent.supersede("o1", text="Bo carries crates at the mill", reason="he moved", now=LATER)
    assert report.replacement is not None
    after = await agent.recompute(now=LATER + timedelta(hours=1))
    events = await agent.timeline()
    assert [told.event.at for told in events] == sorted(told.event.at for told in events)
    told = [(item.event.type, item.memory.id) for item in events]
    assert told[:8] == [("observed", id_) for id_ in ("o1", "o2", "o3", "o4")] + [
        ("inferred", id_) for id_ in ids.values()
    ]
    change = [(item.event.type, item.memory.id, item.event.other) for item in events if item.event.at == LATER]
    assert change[:2] == [("observed", report.replacement.id, None), ("superseded", "o1", report.replacement.id)]
    assert {(type_, id_) for type_, id_, _ in change[2:]} == {("stale", memory.id) for memory in report.stale}
    first = next(item.event for item in events if item.event.type == "stale")
    assert (first.other, first.verb, first.reason) == ("o1", "supersede", "he moved")
    settled = {(type_, id_) for type_, id_ in told if type_ in ("confirmed", "superseded", "retracted")}
    assert {("superseded", item.id) for item in after.items if item.outcome == "revised"} <= settled
    for memory_id in ("o1", report.stale[0].id):
        history = [event.type for event in await agent.history(memory_id) if event.type != "supersedes"]
        assert [type_ for type_, id_ in told if id_ == memory_id] == history


async def test_pages_meet(agent: AsyncAgent) -> None:
    for n in range(5):
        await agent.observe(f"the {n}th", id=f"o{n}", now=T + timedelta(minutes=n))
    last = await agent.timeline(limit=2)
    assert [told.memory.id for told in last] == ["o3", "o4"]
    assert [told.memory.id for told in await agent.timeline(limit=2, before=last[0].event.at)] == ["o1", "o2"]
    assert await agent.timeline(before=T) == ()
    with pytest.raises(InvalidInput):
        await agent.timeline(limit=0)
    with pytest.raises(InvalidInput):
        await agent.timeline(before="2026-03-01T12:00")
