"""What was true until it changed may be cited as that: it makes nothing stale while the update stands."""

from __future__ import annotations

from datetime import timedelta

import pytest
from scripted import Open
from verbs.test_change import HARBOUR, LATER, WORKS, states
from verbs.test_recompute import MILL, Thinker, build

from graphmem.async_agent import AsyncAgent
from graphmem.language.base import Statement
from graphmem.language.prompts import Reconsider

MOVED = "Bo carried crates at the harbour, and carries them at the mill now"


def what_was(task: Reconsider) -> list[Statement]:
    return [s for s in task.statements if s.true_until is not None]


def remember(task: Reconsider) -> object:
    """Says what was and what is, where it is shown what was; else what it is shown confirms."""
    numbers = [s.number for s in task.statements]
    if what_was(task):
        return {"verdict": "revised", "text": MOVED, "evidence": numbers}
    return {"verdict": "confirmed", "evidence": numbers}


async def moved(thinking: Open, mode: str = "update") -> tuple[AsyncAgent, dict[str, str], Thinker, str]:
    agent, ids, model = await build(thinking, remember)
    await agent.supersede("o1", text=MILL, mode=mode, now=LATER)  # pyright: ignore[reportArgumentType]
    report = await agent.recompute(limit=1, now=LATER)
    (item,) = report.items
    assert item.id == ids[WORKS]
    return agent, ids, model, item.new_id or item.id


async def test_an_update_is_shown_as_true_until_then_and_cited_as_past(thinking: Open) -> None:
    agent, _, model, new = await moved(thinking)
    (task, *_) = model.asked(Reconsider)
    (was,) = what_was(task)
    assert (was.text, was.true_until) == (HARBOUR["o1"], LATER)
    assert '"true until"' in task.messages()[-1].content
    assert all(s.status == "active" for s in task.statements if s.true_until is None)
    edges = {edge.target: edge.past for edge in (await agent.explain(new)).grounds_of(new)}
    assert edges.pop("o1") is True
    assert set(edges.values()) == {False}
    assert (await agent.get(new)).status == "active"
    assert "was true" not in (await agent.get(new)).text


async def test_a_correction_is_not_shown_as_what_was(thinking: Open) -> None:
    _, _, model, _ = await moved(thinking, "correction")
    assert what_was(model.asked(Reconsider)[0]) == []


async def test_forgetting_what_was_true_makes_what_cites_it_stale(thinking: Open) -> None:
    agent, _, _, new = await moved(thinking)
    assert (await agent.get(new)).status == "active"
    await agent.forget("o1", now=LATER + timedelta(hours=1))
    assert (await agent.get(new)).status == "stale"
    report = await agent.recompute(now=LATER + timedelta(hours=1))
    assert next((item.id, item.outcome) for item in report.items) == (new, "confirmed")
    edges = (await agent.explain(new)).grounds_of(new)
    assert [edge for edge in edges if edge.past] == []


async def test_restoring_what_was_true_makes_it_a_ground_again(thinking: Open) -> None:
    agent, ids, _, new = await moved(thinking)
    await agent.restore("o1", now=LATER + timedelta(hours=1))
    # The revision is undone with the update, without a model: what it had replaced holds again.
    assert (await states(agent, ids))[WORKS] == "active"
    assert (await agent.get(new)).status in ("retracted", "superseded")


async def test_a_confirmation_may_cite_what_was_and_moves_back(thinking: Open) -> None:
    def confirm(task: Reconsider) -> object:
        return {"verdict": "confirmed", "evidence": [s.number for s in task.statements]}

    agent, ids, _ = await build(thinking, confirm)
    await agent.supersede("o1", text="Bo lifts crates at the harbour", mode="update", now=LATER)
    await agent.recompute(now=LATER)
    edges = {edge.target: edge.past for edge in (await agent.explain(ids[WORKS])).grounds_of(ids[WORKS])}
    assert edges["o1"] is True
    assert len(edges) == 3
    await agent.restore("o1", now=LATER + timedelta(hours=1))
    edges = {edge.target: edge.past for edge in (await agent.explain(ids[WORKS])).grounds_of(ids[WORKS])}
    assert edges["o1"] is False
    assert (await states(agent, ids))[WORKS] == "active"


@pytest.mark.parametrize("mode", ["update", "correction"])
async def test_without_a_model_only_what_holds_is_told(agent: AsyncAgent, mode: str) -> None:
    await agent.observe_many(
        [{"text": f"Klara paints the mural on the {day}", "id": f"k{n}", "importance": 5}
         for n, day in enumerate(["wall", "gate", "boat"])], now=LATER,
    )  # fmt: skip
    await agent.reflect(force=True, now=LATER)
    await agent.supersede("k0", text="Klara sold the mural", mode=mode, now=LATER + timedelta(hours=1))  # pyright: ignore[reportArgumentType]
    await agent.recompute(now=LATER + timedelta(hours=1))
    for reflection in await agent.memories(type="reflection", status="active"):
        edges = (await agent.explain(reflection.id)).grounds_of(reflection.id)
        assert not any(edge.past for edge in edges)
