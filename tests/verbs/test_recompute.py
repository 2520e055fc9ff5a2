"""Recomputing: bottom-up, confirmed, revised, retracted or failed, and never on evidence that has ended."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from scripted import Open, Scripted, numbers_of
from verbs.test_change import BAKES, BOTH, HARBOUR, LATER, LAYERS, TOWN, WORKS, T, states

from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, LanguageModelError
from graphmem.language.prompts import Reconsider

MILL = "Bo carries crates at the mill"


class Thinker(Scripted):
    """Infers the layers of the test graph, and reconsiders as it is told."""

    def __init__(self, layers: list[tuple[str, tuple[str, ...]]], reconsider: object = None) -> None:
        queue = iter(layers)

        def infer(task: object) -> object:
            text, words = next(queue)
            return {"insights": [{"text": text, "evidence": numbers_of(task, *words)}]}

        super().__init__(infer=infer, reconsider=reconsider or revise)  # pyright: ignore[reportArgumentType]


def everything(task: Reconsider) -> list[int]:
    return [statement.number for statement in task.statements]


def confirm(task: Reconsider) -> object:
    return {"verdict": "confirmed", "evidence": everything(task)}


def revise(task: Reconsider) -> object:
    """Lists the evidence that it was shown, as in B27."""
    return {
        "verdict": "revised",
        "text": "Now: " + " and ".join(s.text for s in task.statements),
        "evidence": everything(task),
    }


async def build(thinking: Open, reconsider: object = None) -> tuple[AsyncAgent, dict[str, str], Thinker]:
    model = Thinker(LAYERS, reconsider)
    agent = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    ids: dict[str, str] = {}
    for n, (text, _) in enumerate(LAYERS, start=1):
        (reflection,) = (await agent.reflect(force=True, now=T + timedelta(minutes=n))).reflections
        ids[text] = reflection.id
    return agent, ids, model


async def test_confirmed_where_the_text_still_follows_and_the_wave_stops_there(thinking: Open) -> None:
    agent, ids, model = await build(thinking, confirm)
    await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    report = await agent.recompute(now=LATER)
    assert [(item.id, item.outcome) for item in report.items] == [(ids[WORKS], "confirmed")]
    assert set((await states(agent, ids)).values()) == {"active"}
    assert len(model.asked(Reconsider)) == 1
    provenance = await agent.explain(ids[WORKS])
    now = {provenance.memories[g.target].text for g in provenance.grounds_of(ids[WORKS])}
    assert now == {"Bo lifts crates at the harbour", HARBOUR["o2"]}
    ended = [g for g in provenance.grounds_of(ids[WORKS], ended=True) if g.until is not None]
    assert [(g.target, g.until) for g in ended] == [("o1", LATER)]


@pytest.mark.report("B27")
async def test_revised_bottom_up_each_from_what_holds_now(thinking: Open) -> None:
    agent, ids, model = await build(thinking)
    await agent.supersede("o1", text=MILL, reason="he moved", now=LATER)
    report = await agent.recompute(now=LATER)
    assert [(item.id, item.outcome) for item in report.items] == [
        (ids[WORKS], "revised"),
        (ids[BOTH], "revised"),
        (ids[TOWN], "revised"),
    ]
    assert report.remaining == 0
    first, second, third = model.asked(Reconsider)
    assert {s.text for s in first.statements} == {MILL, HARBOUR["o2"]}
    assert first.hypothesis == WORKS
    assert "he moved" in first.changes[0]
    revised = report.items[0]
    assert {s.text for s in second.statements} == {revised.after, BAKES}
    assert all(s.status == "active" for task in (first, second, third) for s in task.statements)
    assert await states(agent, ids) == {WORKS: "superseded", BAKES: "active", BOTH: "superseded", TOWN: "superseded"}
    new = await agent.get(revised.new_id or "")
    assert (new.status, new.depth) == ("active", 1)
    (edge,) = [e for e in (await agent.explain(ids[WORKS])).supersessions if e.older == ids[WORKS]]
    assert (edge.newer, edge.by) == (new.id, "scripted")
    again = await agent.recompute(now=LATER)
    assert (again.items, again.remaining) == ((), 0)


async def test_b27_no_evidence_left_is_retracted_without_a_model(thinking: Open) -> None:
    agent, ids, model = await build(thinking)
    await agent.retract("o1", now=LATER)
    await agent.retract("o2", now=LATER)
    report = await agent.recompute(now=LATER)
    outcomes = {item.id: item.outcome for item in report.items}
    assert outcomes[ids[WORKS]] == "retracted"
    assert (await agent.get(ids[WORKS])).status == "retracted"
    assert all(WORKS not in (s.text for s in task.statements) for task in model.asked(Reconsider))
    assert outcomes[ids[BOTH]] == "revised"


async def test_retracted_when_the_model_says_it_no_longer_follows(thinking: Open) -> None:
    agent, ids, _ = await build(thinking, lambda task: {"verdict": "retracted", "reason": "he left"})
    await agent.supersede("o1", text=MILL, now=LATER)
    report = await agent.recompute(now=LATER)
    assert {item.outcome for item in report.items} == {"retracted"}
    assert report.items[0].reason == "he left"
    assert await states(agent, ids) == {WORKS: "retracted", BAKES: "active", BOTH: "retracted", TOWN: "retracted"}


async def test_stale_evidence_is_waited_for_never_dropped(thinking: Open) -> None:
    """WORKS fails, so BOTH and TOWN are not ready, though they rest on other things as well."""
    agent, ids, model = await build(thinking, lambda task: "no JSON at all")
    await agent.supersede("o1", text=MILL, now=LATER)
    report = await agent.recompute(now=LATER)
    assert [(item.id, item.outcome) for item in report.items] == [(ids[WORKS], "failed")]
    assert report.remaining == 3
    assert len(model.asked(Reconsider)) == 1
    assert await states(agent, ids) == {WORKS: "stale", BAKES: "active", BOTH: "stale", TOWN: "stale"}
    assert (await agent.recompute(now=LATER)).items == ()  # Backed off, by the server's clock.


@pytest.mark.parametrize(
    ("reply", "gate"),
    [
        ({"verdict": "revised", "text": WORKS, "evidence": [1, 2]}, "echo"),
        ({"verdict": "revised", "text": HARBOUR["o1"], "evidence": [1, 2]}, "echo"),
        ({"verdict": "revised", "text": "Bo works at the mill", "evidence": [7]}, "index"),
        ({"verdict": "revised", "text": "", "evidence": [1]}, "text"),
        ({"verdict": "confirmed", "evidence": []}, "evidence"),
        ({"verdict": "maybe"}, "verdict"),
    ],
)
async def test_a_reply_that_a_gate_refuses_leaves_it_stale(thinking: Open, reply: object, gate: str) -> None:
    agent, ids, _ = await build(thinking, lambda task: reply)
    await agent.supersede("o1", text=MILL, now=LATER)
    (item,) = (await agent.recompute(now=LATER)).items
    assert (item.id, item.outcome) == (ids[WORKS], "failed")
    assert gate in item.reason
    assert (await agent.get(ids[WORKS])).status == "stale"


async def test_a_model_that_is_down_raises_and_frees_what_it_had_leased(thinking: Open) -> None:
    answers: list[object] = [LanguageModelError("no route to the provider")]

    def reconsider(task: Reconsider) -> object:
        if answers:
            raise answers.pop()  # pyright: ignore[reportArgumentType]
        return confirm(task)

    agent, ids, _ = await build(thinking, reconsider)
    await agent.supersede("o1", text="Bo lifts crates at the harbour", now=LATER)
    with pytest.raises(LanguageModelError, match="no route"):
        await agent.recompute(now=LATER)
    assert (await agent.get(ids[WORKS])).status == "stale"
    assert [item.outcome for item in (await agent.recompute(now=LATER)).items] == ["confirmed"]


async def test_the_limit_bounds_the_work_and_the_rest_goes_on_later(thinking: Open) -> None:
    agent, _, _ = await build(thinking)
    await agent.supersede("o1", text=MILL, now=LATER)
    seen: list[tuple[int, int]] = []
    first = await agent.recompute(limit=1, now=LATER, progress=lambda done, left: seen.append((done, left)))
    assert (len(first.items), first.remaining, seen) == (1, 2, [(1, 2)])
    second = await agent.recompute(now=LATER)
    assert (len(second.items), second.remaining) == (2, 0)
    for limit in (0, -1, True, "3", 1.5):
        with pytest.raises(InvalidInput, match="limit"):
            await agent.recompute(limit=limit)  # pyright: ignore[reportArgumentType]


async def test_evidence_that_changes_while_the_model_thinks_is_thought_about_again(
    thinking: Open, agent: AsyncAgent
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Thinker):
        async def reply(self, task):
            if isinstance(task, Reconsider) and not go_on.is_set():
                started.set()
                await go_on.wait()
            return await super().reply(task)

    model = Slow(LAYERS[:1])
    thinker = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    await thinker.reflect(force=True, now=T)
    await agent.supersede("o1", text=MILL, now=LATER)
    recomputing = asyncio.create_task(thinker.recompute(now=LATER))
    await started.wait()
    await agent.supersede("o2", text="Bo eats lunch at the mill", now=LATER)
    go_on.set()
    (item,) = (await recomputing).items
    assert item.outcome == "revised"
    assert item.after == f"Now: {MILL} and Bo eats lunch at the mill"


async def test_two_workers_share_the_work_and_do_none_twice(thinking: Open, agent: AsyncAgent) -> None:
    _, ids, _ = await build(thinking)
    await agent.supersede("o1", text=MILL, now=LATER)
    one, two = await thinking(Thinker([])), await thinking(Thinker([]))
    reports = await asyncio.gather(one.recompute(now=LATER), two.recompute(now=LATER))
    done = [item.id for report in reports for item in report.items]
    assert len(done) == len(set(done))
    rest = await one.recompute(now=LATER)
    assert sorted(done + [item.id for item in rest.items]) == sorted([ids[WORKS], ids[BOTH], ids[TOWN]])


async def test_a_revision_that_says_what_another_says_joins_it(thinking: Open) -> None:
    agent, ids, _ = await build(
        thinking, lambda task: {"verdict": "revised", "text": BAKES, "evidence": numbers_of(task, "bread")}
    )
    await agent.supersede("o1", text="Bo carries bread, says the baker Ina", now=LATER)
    (first, *_) = (await agent.recompute(limit=1, now=LATER)).items
    assert (first.id, first.outcome, first.new_id) == (ids[WORKS], "revised", ids[BAKES])
    grounds = {g.target for g in (await agent.explain(ids[BAKES])).grounds_of(ids[BAKES])}
    assert {"o3", "o4"} < grounds
    assert len(grounds) == 3


async def test_stale_memories_are_withheld_and_counted(thinking: Open) -> None:
    agent, ids, _ = await build(thinking)
    await agent.supersede("o1", text=MILL, now=LATER)
    hits = await agent.retrieve(WORKS, k=3, now=LATER, touch=False)
    assert {hit.memory.status for hit in hits} == {"active"}
    assert not {hit.memory.id for hit in hits} & set(ids.values()) - {ids[BAKES]}
    assert hits.withheld_stale >= 1
    await agent.recompute(now=LATER)
    assert (await agent.retrieve(WORKS, k=3, now=LATER, touch=False)).withheld_stale == 0


async def test_offline_recompute_with_the_extractive_engine(agent: AsyncAgent) -> None:
    texts = {
        "p1": "Klara paints the mural at the harbour",
        "p2": "Klara buys blue paint for the mural",
        "p3": "Klara shows the mural to the mayor",
        "q1": "Jon repairs the violin",
        "q2": "Jon plays the violin at night",
    }
    await agent.observe_many(
        [
            {"text": t, "id": i, "importance": 6, "occurred_at": T + timedelta(hours=n)}
            for n, (i, t) in enumerate(texts.items())
        ],
        now=T,
    )
    report = await agent.reflect(force=True, now=T + timedelta(hours=9))
    assert report.outcome == "reflected"
    before = {r.id: r.text for r in report.reflections}
    cites = {r: {g.target for g in (await agent.explain(r)).grounds_of(r)} for r in before}
    mural = [r for r, grounds in cites.items() if {"p1", "p2", "p3"} <= grounds]
    violin = [r for r, grounds in cites.items() if grounds == {"q1", "q2"}]
    assert mural
    assert violin
    await agent.supersede("p2", text="Klara buys blue wool for a scarf", now=LATER)
    await agent.supersede("q1", text="Jon repairs the kettle", now=LATER)
    outcomes = {item.id: item for item in (await agent.recompute(now=LATER)).items}
    assert outcomes[mural[0]].outcome == "revised"
    assert outcomes[mural[0]].after != before[mural[0]]
    assert outcomes[violin[0]].outcome == "retracted"


async def test_what_a_restore_put_in_the_place_of_a_chain_is_waited_for(thinking: Open) -> None:
    """WORKS rests on o1, for which o2 stood; since o2 is gone, BAKES stands there again, which it once replaced."""
    model = Thinker(
        [(WORKS, ("crates",)), ("Ina is a baker of bread", ("dawn",))],
        lambda task: confirm(task) if "harbour" in task.hypothesis else {"verdict": "confirmed", "evidence": []},
    )
    agent = await thinking(model)
    await agent.observe_many([{"text": text, "id": id_, "importance": 5} for id_, text in HARBOUR.items()], now=T)
    (works,) = (await agent.reflect(force=True, now=T)).reflections
    (bakes,) = (await agent.reflect(force=True, now=T)).reflections
    await agent.supersede(bakes.id, by="o2", now=LATER)
    await agent.restore(bakes.id, now=LATER)
    await agent.supersede("o1", by="o2", now=LATER)
    await agent.retract("o2", now=LATER)
    await agent.supersede("o4", text="Ina bakes bread before dawn", now=LATER)
    assert [(await agent.get(id_)).status for id_ in (works.id, bakes.id)] == ["stale", "stale"]
    async with asyncio.timeout(60):
        report = await agent.recompute(now=LATER)
    assert [(item.id, item.outcome) for item in report.items] == [(bakes.id, "failed")]
    assert report.remaining == 2
