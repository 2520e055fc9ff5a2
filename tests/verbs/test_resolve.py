"""Resolving conflicts: the model may name what it was shown; all of it is logged, reviewed and undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import LanguageModelError
from graphmem.models import Changed

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = T + timedelta(days=1)
HEAD, ALSO = "Ana is head of the lab", "Ana also looks after the library"
HERON, PLOVER = "Ana is on project Heron", "Ana moved from Heron to Plover"


def ends(verdict: str, *words: str, number: int | None = None, **fields: Any) -> Callable[[Any], object]:
    """A model that says one verdict about the memory with these words, whatever arrives."""
    return lambda task: {
        "known": None,
        "conflicts": [
            {"number": n, "verdict": verdict, "reason": "by the model", **fields}
            for n in ([number] if number is not None else numbers_of(task, *words))
        ],
    }


async def texts(agent: AsyncAgent) -> set[str]:
    return {memory.text for memory in await agent.memories(status="active")}


async def test_b26_what_adds_stays_and_what_replaces_is_replaced(thinking: Open) -> None:
    def judge(task: Any) -> object:
        return ends("supersede", "Heron")(task) if "Plover" in task.new.text else {"conflicts": []}

    agent = await thinking(Scripted(resolve=judge))
    for text in (HEAD, HERON):
        await agent.observe(text, now=T)
    for text in (ALSO, PLOVER):
        await agent.observe(text, resolve=True, now=LATER)
    assert await texts(agent) == {HEAD, ALSO, PLOVER}
    (entry,) = await agent.review()
    assert (entry.verb, entry.by, entry.reason) == ("resolve:superseded", "scripted", "by the model")
    assert (entry.memory.text, entry.replacement_text, entry.undone) == (HERON, PLOVER, False)
    assert entry.run_id in {run.id for run in await agent.runs()}
    (edge,) = (await agent.explain(entry.memory.id)).supersessions
    assert (edge.mode, edge.reason, edge.by, edge.at) == ("update", "by the model", "scripted", LATER)


@pytest.mark.parametrize("number", [0, 7, -1])
async def test_b26_a_number_that_was_not_shown_changes_nothing(
    thinking: Open, memory: AsyncMemory, number: int
) -> None:
    agent = await thinking(Scripted(resolve=ends("retract", number=number)))
    other = memory.agent(f"other of {agent.id}")
    await other.observe(HERON, id="o7", now=T)
    await agent.observe(HEAD, now=T)
    await agent.observe(PLOVER, resolve=True, now=LATER)
    assert await texts(agent) == {HEAD, PLOVER}
    (run,) = [run for run in await agent.runs() if run.verb == "resolve"]
    assert [(refused.gate, refused.reason) for refused in run.refused] == [("index", f"{number} was not shown")]
    assert await agent.review() == ()
    assert (await other.get("o7")).status == "active"


async def test_b26_a_wrong_yes_is_reviewed_and_undone_with_its_reflections(thinking: Open) -> None:
    model = Scripted(
        infer=lambda task: {"insights": [{"text": "Ana leads the lab team", "evidence": numbers_of(task, "lab")}]},
        resolve=ends("supersede", "head of"),
    )
    agent = await thinking(model)
    await agent.observe(HEAD, id="o1", importance=5, now=T)
    await agent.observe("The lab is busy", id="o2", importance=5, now=T)
    (leads,) = (await agent.reflect(force=True, now=T)).reflections
    await agent.observe(ALSO, id="o3", resolve=True, now=LATER)
    assert (await agent.get("o1")).status == "superseded"
    assert (await agent.get(leads.id)).status == "stale"
    await agent.restore("o1", reason="she does both", now=LATER)
    assert await texts(agent) >= {HEAD, ALSO}
    assert (await agent.get(leads.id)).status == "active"
    (entry,) = await agent.review()
    assert entry.undone


async def test_nothing_is_ended_that_outranks_the_new_memory(thinking: Open) -> None:
    agent = await thinking(Scripted(resolve=ends("retract", "Ana")))
    await agent.observe(HEAD, id="fact", kind="fact", now=T)
    await agent.observe("Ana has the room by the lab", id="key", key="room of Ana", now=T)
    await agent.observe("Ana sings", id="event", now=T)
    await agent.observe("Ana left, they say", kind="utterance", id="new", resolve=True, now=LATER)
    assert {memory.id for memory in await agent.memories(status="active")} == {"fact", "key", "new"}
    (run,) = await agent.runs()
    assert {refused.reason for refused in run.refused} == {
        "it outranks the new memory",
        "it is the value of a key, which only a later value of that key replaces",
    }


async def test_known_already_keeps_the_first_and_hides_the_second(agent: AsyncAgent, thinking: Open) -> None:
    """Without a model equal text is known, and nothing else: B23's near-equal pairs both stay."""
    for pair in (
        ("The east gate is locked at night", "The east gate is not locked at night"),
        ("Ferry leaves 07:40", "Ferry leaves 07:50"),
    ):
        for text in pair:
            await agent.observe(text, resolve=True, now=T)
    await agent.observe(HEAD, id="o1", now=T)
    await agent.observe(f"{HEAD}.", id="o2", resolve=True, now=LATER)
    assert len(await texts(agent)) == 5
    assert ((await agent.get("o1")).status, (await agent.get("o2")).status) == ("active", "superseded")
    (entry,) = await agent.review()
    assert (entry.memory.id, entry.replacement, entry.reason) == ("o2", "o1", "known already")
    await agent.restore("o2", now=LATER)
    assert (await agent.get("o2")).status == "active"


async def test_what_changed_while_the_model_thought_is_left_alone(thinking: Open, memory: AsyncMemory) -> None:
    plain = None

    class Meanwhile(Scripted):
        async def reply(self, task: Any) -> Any:
            if hasattr(task, "new"):
                assert plain is not None
                await plain.retract("o1", now=LATER)
            return await super().reply(task)

    agent = await thinking(Meanwhile(resolve=ends("supersede", "Heron")))
    plain = memory.agent(agent.id)
    await agent.observe(HERON, id="o1", now=T)
    await agent.observe(PLOVER, id="o2", resolve=True, now=LATER)
    assert (await agent.get("o1")).status == "retracted"
    assert await agent.review() == ()


async def test_a_model_that_fails_leaves_the_observation(thinking: Open) -> None:
    def fails(task: Any) -> object:
        raise RuntimeError("no answer")

    agent = await thinking(Scripted(resolve=fails))
    await agent.observe(HEAD, now=T)
    with pytest.raises(LanguageModelError):
        await agent.observe(ALSO, id="o2", resolve=True, now=LATER)
    assert await texts(agent) == {HEAD, ALSO}
    assert [run.outcome for run in await agent.runs()] == ["failed"]


async def test_the_log_is_paged_latest_first_and_only_grows(agent: AsyncAgent) -> None:
    for n in range(4):
        await agent.observe(f"Bo counts {n} boats", id=f"o{n}", now=T)
        await agent.retract(f"o{n}", reason=f"for {n}", now=LATER)
    await agent.restore("o1", now=LATER)
    entries = await agent.log()
    assert [(entry.seq, entry.verb, entry.memory.id) for entry in entries] == [
        (5, "restore", "o1"), (4, "retract", "o3"), (3, "retract", "o2"), (2, "retract", "o1"), (1, "retract", "o0")
    ]  # fmt: skip
    assert [entry.undone for entry in entries] == [False, False, False, True, False]
    first = await agent.log(limit=2)
    assert (*first, *await agent.log(limit=10, before=first[-1].seq)) == entries


async def test_listeners_are_told_once_a_change_is_committed(thinking: Open, memory: AsyncMemory) -> None:
    model = Scripted(
        infer=lambda task: {"insights": [{"text": "Ana leads the lab team", "evidence": numbers_of(task, "lab")}]}
    )
    agent = await thinking(model)
    await agent.observe(HEAD, id="o1", importance=5, now=T)
    await agent.observe("The lab is busy", id="o2", importance=5, now=T)
    (leads,) = (await agent.reflect(force=True, now=T)).reflections
    told: list[Changed] = []
    seen: list[str] = []

    async def listen(changed: Changed) -> None:
        told.append(changed)
        seen.append((await memory.agent(agent.id).get(leads.id)).status)

    def fails(changed: Changed) -> None:
        raise RuntimeError("a listener's own fault")

    own = agent._engine.listeners
    own += [fails, listen]
    report = await agent.supersede("o1", text="Bo is head of the lab", now=LATER)
    await agent.recompute(now=LATER)
    await agent.observe("Bo has room 1", key="room", id="k1", occurred_at=T, now=LATER)
    await agent.observe("Bo has room 2", key="room", id="k2", occurred_at=LATER, now=LATER)
    own.clear()
    await agent.retract("k2", now=LATER)
    assert [(change.verb, change.ended, change.stale) for change in told] == [
        ("supersede", ("o1",), (leads.id,)), ("recompute", (leads.id,), ()), ("observe", ("k1",), ())
    ]  # fmt: skip
    assert report.replacement is not None
    assert told[0].held == (report.replacement.id,)
    assert {run.verb for run in told[0].used_by} == {"reflect"}
    assert told[2].held == ("k2",)
    assert seen == ["stale", "retracted", "retracted"]


async def test_a_listener_is_added_and_removed(memory: AsyncMemory, agent: AsyncAgent) -> None:
    told: list[Changed] = []
    stop = memory.on_change(told.append)
    await agent.observe("Bo sings", id="o1", now=T)
    await agent.retract("o1", now=T)
    stop()
    stop()
    await agent.restore("o1", now=T)
    assert [change.verb for change in told] == ["retract"]
