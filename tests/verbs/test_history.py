"""History: all that happened to one memory, why, and by whom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, LanguageModelError, UnknownMemory, UnknownRun
from graphmem.language.prompts import InferInsights, Reconsider
from graphmem.models import HistoryEvent

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def at(hour: int) -> datetime:
    return NOW + timedelta(hours=hour)


def told(events: tuple[HistoryEvent, ...]) -> list[tuple[str, int]]:
    """What happened, and in which hour."""
    return [(event.type, round((event.at - NOW) / timedelta(hours=1))) for event in events]


def thoughts() -> Scripted:
    """Concludes one thing of the boat, and another of that."""

    def infer(task: InferInsights) -> object:
        if above := numbers_of(task, "unsafe"):
            return {
                "insights": [
                    {"text": "The unsafe boat meets a storm", "evidence": [*above, *numbers_of(task, "storm")]}
                ]
            }
        return {"insights": [{"text": "The boat is unsafe", "evidence": numbers_of(task, "leaks", "rotten")}]}

    def reconsider(task: Reconsider) -> object:
        if task.hypothesis == "The boat is unsafe":
            if numbers_of(task, "tight"):
                return {"verdict": "revised", "text": "The boat is tight but rotten", "evidence": [1, 2]}
            return {"verdict": "confirmed", "evidence": numbers_of(task, "leaks", "rotten", "drips")}
        return {"verdict": "retracted", "reason": "it no longer follows"}

    return Scripted(infer=infer, reconsider=reconsider)


async def test_an_observation_from_beginning_to_end(agent: AsyncAgent) -> None:
    await agent.observe("The boat leaks", id="leak", importance=5, occurred_at=at(-9), now=NOW)
    assert told(await agent.history("leak")) == [("observed", 0)]
    await agent.supersede("leak", text="The boat drips", mode="update", reason="caulked", now=at(1))
    observed, superseded = await agent.history("leak")
    assert (observed.verb, observed.by, observed.seq) == ("observe", "caller", None)
    assert (superseded.type, superseded.at, superseded.verb, superseded.by) == (
        "superseded",
        at(1),
        "supersede",
        "caller",
    )
    assert (superseded.mode, superseded.reason, superseded.seq) == ("update", "caulked", 1)
    assert superseded.other is not None
    assert superseded.other_text == "The boat drips"

    began, took = await agent.history(superseded.other)
    assert told((began, took)) == [("observed", 1), ("supersedes", 1)]
    assert (took.other, took.other_text, took.reason, took.seq) == ("leak", "The boat leaks", "caulked", 1)

    await agent.retract(superseded.other, reason="never looked", now=at(2))
    *_, retracted = await agent.history(superseded.other)
    assert (retracted.type, retracted.at, retracted.reason, retracted.seq) == ("retracted", at(2), "never looked", 2)


async def test_a_reflection_turns_stale_and_is_confirmed_then_revised(thinking: Open) -> None:
    agent = await thinking(thoughts())
    for text, id_ in (("The boat leaks", "leak"), ("The boat is rotten", "rot"), ("A storm comes", "storm")):
        await agent.observe(text, id=id_, importance=5, now=NOW)
    report = await agent.reflect(force=True, now=at(1))
    [unsafe] = report.reflections
    [inferred] = await agent.history(unsafe.id)
    assert told((inferred,)) == [("inferred", 1)]
    assert (inferred.verb, inferred.by, inferred.run_id) == ("reflect", "scripted", report.run_id)
    assert inferred.seq is not None

    change = await agent.supersede("leak", text="The boat drips", reason="caulked", now=at(2))
    assert [memory.id for memory in change.stale] == [unsafe.id]
    *_, stale = await agent.history(unsafe.id)
    assert (stale.type, stale.at, stale.other, stale.other_text) == ("stale", at(2), "leak", "The boat leaks")
    assert (stale.verb, stale.by, stale.reason, stale.seq) == ("supersede", "caller", "caulked", change.revision)

    [confirmed] = (await agent.recompute(now=at(3))).items
    assert confirmed.outcome == "confirmed"
    events = await agent.history(unsafe.id)
    assert told(events) == [("inferred", 1), ("stale", 2), ("confirmed", 3)]
    assert (events[-1].verb, events[-1].by) == ("recompute", "scripted")

    assert change.replacement is not None
    await agent.supersede(change.replacement.id, text="The boat is tight", now=at(4))
    [revised] = (await agent.recompute(now=at(5))).items
    assert revised.outcome == "revised"
    assert revised.new_id is not None
    events = await agent.history(unsafe.id)
    assert told(events) == [("inferred", 1), ("stale", 2), ("confirmed", 3), ("stale", 4), ("superseded", 5)]
    assert (events[-1].verb, events[-1].by, events[-1].other) == ("recompute", "scripted", revised.new_id)
    assert events[-1].reason == "recomputed from changed evidence"

    events = await agent.history(revised.new_id)
    assert told(events) == [("inferred", 5), ("supersedes", 5)]
    assert (events[0].verb, events[1].verb, events[1].other) == ("recompute", "recompute", unsafe.id)
    run = await agent.run(events[0].run_id or "")
    assert [memory.id for memory in run.wrote] == [revised.new_id]


async def test_what_rests_on_a_confirmed_reflection_is_active_again_without_an_entry_of_its_own(
    thinking: Open,
) -> None:
    agent = await thinking(thoughts())
    for text, id_ in (("The boat leaks", "leak"), ("The boat is rotten", "rot"), ("A storm comes", "storm")):
        await agent.observe(text, id=id_, importance=5, now=NOW)
    [unsafe] = (await agent.reflect(force=True, now=at(1))).reflections
    [nobody] = (await agent.reflect(force=True, now=at(2))).reflections
    assert nobody.text == "The unsafe boat meets a storm"
    change = await agent.supersede("leak", text="The boat drips", now=at(3))
    assert {memory.id for memory in change.stale} == {unsafe.id, nobody.id}
    assert [item.outcome for item in (await agent.recompute(now=at(4))).items] == ["confirmed"]
    inferred, stale, active = await agent.history(nobody.id)
    assert told((inferred, stale, active)) == [("inferred", 2), ("stale", 3), ("active", 4)]
    assert (stale.other, stale.verb, stale.seq) == (unsafe.id, None, None)
    assert (active.other, active.other_text) == (unsafe.id, "The boat is unsafe")

    await agent.retract("storm", reason="it turned south", now=at(5))
    await agent.retract("rot", now=at(6))
    events = await agent.history(nobody.id)
    assert told(events[3:]) == [("stale", 5), ("stale", 6)]
    assert [event.reason for event in events[3:]] == ["it turned south", ""]


async def test_one_of_two_causes_that_ceases_leaves_it_stale(thinking: Open) -> None:
    agent = await thinking(thoughts())
    for text, id_ in (("The boat leaks", "leak"), ("The boat is rotten", "rot"), ("A storm comes", "storm")):
        await agent.observe(text, id=id_, importance=5, now=NOW)
    await agent.reflect(force=True, now=at(1))
    [nobody] = (await agent.reflect(force=True, now=at(2))).reflections
    await agent.retract("storm", now=at(3))
    await agent.supersede("leak", text="The boat drips", now=at(4))
    assert [item.outcome for item in (await agent.recompute(limit=1, now=at(5))).items] == ["confirmed"]
    assert (await agent.get(nobody.id)).status == "stale"
    assert told(await agent.history(nobody.id)) == [("inferred", 2), ("stale", 3), ("stale", 4)]


async def test_where_all_happens_in_one_moment_the_revisions_tell_the_order(thinking: Open) -> None:
    agent = await thinking(thoughts())
    for text, id_ in (("The boat leaks", "leak"), ("The boat is rotten", "rot")):
        await agent.observe(text, id=id_, importance=5, now=NOW)
    [unsafe] = (await agent.reflect(force=True, now=NOW)).reflections
    await agent.supersede("leak", text="The boat drips", now=NOW)
    await agent.recompute(now=NOW)
    assert told(await agent.history(unsafe.id)) == [("inferred", 0), ("stale", 0), ("confirmed", 0)]


@pytest.mark.parametrize("id_", ["", " ", None, 7, "x" * 513])
async def test_what_is_no_id_is_refused(agent: AsyncAgent, id_: object) -> None:
    for call in (agent.history, agent.run, agent.about):
        with pytest.raises(InvalidInput):
            await call(id_)  # pyright: ignore[reportArgumentType]


async def test_what_is_not_there_is_said(agent: AsyncAgent) -> None:
    await agent.observe("something", id="a", importance=1)
    with pytest.raises(UnknownMemory, match="'b'"):
        await agent.history("b")
    with pytest.raises(UnknownRun, match="'a'") as error:
        await agent.run("a")
    assert "graphmem runs" in error.value.remedy


# --- runs -------------------------------------------------------------------------------------------------------


async def test_a_run_with_what_it_showed_wrote_and_refused(thinking: Open) -> None:
    def infer(task: InferInsights) -> object:
        good = {"text": "The boat is unsafe", "evidence": numbers_of(task, "leaks", "rotten")}
        return {"insights": [good, {"text": "The boat sings", "evidence": [77]}]}

    agent = await thinking(Scripted(infer=infer))
    for number, text in enumerate(("The boat leaks", "The boat is rotten")):
        await agent.observe(text, id=f"o{number}", importance=5, now=NOW)
    report = await agent.reflect(force=True, now=at(1))
    assert report.run_id is not None
    details = await agent.run(report.run_id)
    assert (details.run,) == await agent.runs()
    assert (details.run.verb, details.run.outcome, details.run.model) == ("reflect", "reflected", "scripted")
    assert [refused.gate for refused in details.run.refused] == ["index"]
    assert "77" in details.run.refused[0].reason
    assert [memory.text for memory in details.wrote] == ["The boat is unsafe"]
    assert {item.memory.id for item in details.shown} == {"o0", "o1"}
    assert sorted(item.rank for item in details.shown) == [1, 2]
    assert details.run.error is None


async def test_a_failed_run_tells_what_it_failed_with(thinking: Open) -> None:
    def broken(task: object) -> object:
        raise RuntimeError("the model is on strike")

    agent = await thinking(Scripted(ask=broken))
    for text in ("The boat leaks", "The boat is rotten"):
        await agent.observe(text, importance=5, now=NOW)
    with pytest.raises(LanguageModelError):
        await agent.reflect(force=True, now=at(1))
    [run] = await agent.runs()
    assert run.outcome == "failed"
    assert "on strike" in (run.error or "")


@pytest.mark.parametrize("limit", [0, -1, 10_001, True, "5", 1.5, None])
async def test_a_limit_that_is_none_is_refused_everywhere_alike(agent: AsyncAgent, limit: object) -> None:
    for call in (agent.runs, agent.memories, lambda limit: agent.about("x", limit=limit)):
        with pytest.raises(InvalidInput, match="limit"):
            await call(limit=limit)  # pyright: ignore[reportArgumentType]


async def test_runs_are_listed_newest_first_up_to_a_limit(thinking: Open) -> None:
    agent = await thinking(Scripted())
    for text in ("The boat leaks", "The boat is rotten"):
        await agent.observe(text, importance=5, now=NOW)
    made = [(await agent.reflect(force=True, now=at(hour))).run_id for hour in (1, 2, 3)]
    assert [run.id for run in await agent.runs()] == made[::-1]
    assert [run.id for run in await agent.runs(limit=2)] == made[:0:-1]
