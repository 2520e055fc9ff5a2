"""Summaries and digests: reflections that cite, are used again while they hold, go stale and are recomputed."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from scripted import Open, Scripted, numbers_of
from verbs.test_planning import PLAIN, at, day_of, quarters

from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, InvalidTime, ReplyRefused
from graphmem.language.planning import PlanDay, SumUp
from graphmem.models import Reflection

TEXT = "Ines mends boats and is proud of her hands"


def ines(task: SumUp) -> Any:
    return {"text": TEXT, "evidence": numbers_of(task, "boat", "hands")}


async def boats(agent: AsyncAgent) -> None:
    await agent.observe("Ines mends a boat", id="boat", now=at(9))
    await agent.observe("Ines looks at her hands, proud", id="hands", now=at(10))


async def test_a_description_cites_what_it_is_made_of(thinking: Open) -> None:
    model = Scripted(sum_up=ines)
    agent = await thinking(model)
    await boats(agent)
    summary = await agent.summarise(now=at(12))
    assert (summary.text, summary.kind, summary.covers, summary.depth) == (TEXT, "summary", "self", 1)
    assert {g.target for g in (await agent.explain(summary.id)).grounds_of(summary.id)} == {"boat", "hands"}
    run = (await agent.runs())[0]
    assert (run.verb, run.outcome) == ("summarise", "done")


async def test_it_is_used_again_for_a_day_and_while_the_traits_are_the_same(thinking: Open) -> None:
    model = Scripted(sum_up=ines)
    agent = await thinking(model)
    await boats(agent)
    first = await agent.summarise(now=at(12))
    assert await agent.summarise(now=at(11, 59, day=13)) == first
    assert len(model.asked(SumUp)) == 1
    second = await agent.summarise(now=at(12, 1, day=13))
    assert second.id != first.id
    assert (await agent.get(first.id)).status == "superseded"
    await agent.configure(traits="Stubborn")
    third = await agent.summarise(now=at(12, 2, day=13))
    assert third.id not in (first.id, second.id)
    assert [event.type for event in await agent.history(second.id)] == ["inferred", "supersedes", "superseded"]
    held = [m for m in await agent.memories(type="reflection", status="active") if m.kind == "summary"]
    assert [memory.id for memory in held] == [third.id]


async def test_it_goes_stale_and_is_recomputed_as_a_summary(thinking: Open) -> None:
    def revise(task: Any) -> Any:
        assert (task.kind, task.given) == ("summary", "Ines")
        return {"verdict": "revised", "text": "Ines mends carts", "evidence": numbers_of(task, "cart")}

    agent = await thinking(Scripted(sum_up=ines, reconsider=revise))
    await agent.configure(name="Ines")
    await boats(agent)
    first = await agent.summarise(now=at(12))
    await agent.supersede("boat", text="Ines mends a cart", now=at(13))
    assert (await agent.get(first.id)).status == "stale"
    (item,) = (await agent.recompute(now=at(14))).items
    assert item.outcome == "revised"
    found = await agent.get(item.new_id or "")
    assert isinstance(found, Reflection)
    assert (found.kind, found.covers, found.question) == ("summary", "self", first.question)
    assert await agent.summarise(now=at(15)) == found  # It is the agent's description now.


async def test_a_stale_description_is_written_anew_when_it_is_asked_for(thinking: Open) -> None:
    model = Scripted(sum_up=ines)
    agent = await thinking(model)
    await boats(agent)
    first = await agent.summarise(now=at(12))
    await agent.retract("hands", now=at(13))
    second = await agent.summarise(now=at(14))
    assert second.id != first.id
    assert (await agent.get(first.id)).status == "superseded"
    assert [g.target for g in (await agent.explain(second.id)).grounds_of(second.id)] == ["boat"]


@pytest.mark.usefixtures("born")
async def test_nothing_to_describe_and_what_no_memory_bears_out(thinking: Open) -> None:
    agent = await thinking(Scripted(sum_up=lambda task: {"text": "Klaus is a baker of 43 cakes", "evidence": [1]}))
    with pytest.raises(InvalidInput, match="remembers nothing"):
        await agent.summarise(now=at(12))
    await boats(agent)
    with pytest.raises(ReplyRefused, match="names Klaus"):
        await agent.summarise(now=at(12))
    assert (await agent.info()).reflections == 0
    (run,) = await agent.runs()
    assert run.outcome == "failed"


async def test_a_digest_is_of_a_day_where_the_agent_lives(thinking: Open) -> None:
    model = Scripted(sum_up=lambda task: {"text": f"On {task.day} it ended late", "evidence": [1]})
    agent = await thinking(model)
    await agent.configure(time_zone="Pacific/Auckland")
    await agent.observe(
        "The day ended late with a song", id="song", now=datetime(2026, 6, 12, 11, tzinfo=ZoneInfo("UTC"))
    )
    await agent.observe("A new day began", id="next", now=datetime(2026, 6, 12, 13, tzinfo=ZoneInfo("UTC")))
    digest = await agent.digest("2026-06-12", now=at(18))
    assert digest is not None
    assert (digest.kind, digest.covers, digest.text) == (
        "summary", "day 2026-06-12", "On Friday 12 June 2026 it ended late",
    )  # fmt: skip
    assert [g.target for g in (await agent.explain(digest.id)).grounds_of(digest.id)] == ["song"]
    assert await agent.digest("2026-06-12", now=at(18, day=14)) == digest
    assert len(model.asked(SumUp)) == 1
    assert await agent.digest("2026-06-01", now=at(18)) is None
    with pytest.raises(InvalidTime):
        await agent.digest("yesterday", now=at(18))


async def test_a_digest_of_a_day_that_went_on_is_written_anew(agent: AsyncAgent) -> None:
    await agent.observe("The kettle sings", now=at(9))
    first = await agent.digest("2026-06-12", now=at(10))
    assert first is not None
    assert await agent.digest("2026-06-12", now=at(11)) == first
    await agent.observe("The kettle fell from the stove", now=at(12))
    second = await agent.digest("2026-06-12", now=at(13))
    assert second is not None
    assert "fell from the stove" in second.text
    assert (await agent.get(first.id)).status == "superseded"


async def test_yesterdays_digest_is_shown_when_a_day_is_planned(thinking: Open) -> None:
    model = Scripted(
        plan=day_of(*PLAIN), divide=quarters, sum_up=lambda task: {"text": "It ended with a song", "evidence": [1]}
    )
    agent = await thinking(model)
    await agent.observe("The day ended with a song on the quay", now=at(20, day=11))
    await agent.plan_day("2026-06-12", now=at(7))
    (task,) = model.asked(PlanDay)
    (digest,) = [statement for statement in task.statements if statement.kind == "summary"]
    assert digest.text == "It ended with a song"


async def test_without_a_model_they_quote_and_are_recomputed(agent: AsyncAgent) -> None:
    await agent.configure(name="Ines Calder", traits="Boatbuilder in Skerrow, 34. Stubborn")
    await agent.observe("The Petrel leaks at the garboard plank", id="leak", importance=8, now=at(9))
    await agent.observe("Will she sink, auntie?", id="sink", kind="utterance", source="Lio", importance=6, now=at(10))
    await agent.observe("Soup for supper", id="soup", importance=1, now=at(19))
    summary = await agent.summarise(now=at(20))
    assert summary.text == (
        "Ines Calder: Boatbuilder in Skerrow, 34. Stubborn. Lately: “The Petrel leaks at the garboard plank”; "
        "Lio said “Will she sink, auntie?”; “Soup for supper”."
    )
    digest = await agent.digest("2026-06-12", now=at(23))
    assert digest is not None
    assert digest.text.startswith("Friday 12 June 2026: “The Petrel leaks at the garboard plank”; Lio said")
    await agent.supersede("leak", text="The Petrel leaks past the sea cock", reason="looked", now=at(23, 10))
    report = await agent.recompute(now=at(23, 20))
    assert report.count("revised") == 2
    now = {m.covers: m for m in await agent.memories(type="reflection", status="active") if isinstance(m, Reflection)}
    assert "past the sea cock" in now["self"].text
    assert now["self"].text.startswith("Ines Calder: Boatbuilder in Skerrow, 34. Stubborn. Lately: ")
    assert now["day 2026-06-12"].text.startswith("Friday 12 June 2026: ")
    assert "past the sea cock" in now["day 2026-06-12"].text
    await agent.supersede("soup", text="Bread for supper", now=at(23, 30))
    await agent.restore("soup", now=at(23, 40))
    assert (await agent.info()).stale == 0
