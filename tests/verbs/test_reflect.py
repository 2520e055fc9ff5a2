"""Reflecting: the trigger, the evidence, the gates, and one transaction an insight."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted, numbers_of, rate_as

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.errors import InvalidInput, LanguageModelError, ReplyRefused
from graphmem.language.base import Message
from graphmem.language.prompts import AskQuestions, InferInsights, SaySame, memories

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHIFTS = [
    {"text": "Orla swaps her late shift away", "id": "o1", "importance": 5},
    {"text": "Orla is cheerful at the early shift", "id": "o2", "importance": 5},
    {"text": "The kettle is broken", "id": "o3", "importance": 5},
]


def insight(text: str, *words: str):
    return lambda task: {"insights": [{"text": text, "evidence": numbers_of(task, *words)}]}


async def test_an_insight_cites_what_it_rests_on(thinking: Open) -> None:
    model = Scripted(infer=insight("Orla likes the early shift", "Orla"), rate=rate_as(6))
    agent = await thinking(model)
    await agent.observe_many(SHIFTS, now=T)
    report = await agent.reflect(force=True, now=T)
    assert report.outcome == "reflected"
    (reflection,) = report.reflections
    assert (reflection.text, reflection.kind, reflection.status) == ("Orla likes the early shift", "insight", "active")
    assert (reflection.depth, reflection.importance, reflection.importance_by) == (1, 6, "model")
    assert reflection.question == "What matters most here?"
    assert reflection.written_by == "scripted"
    provenance = await agent.explain(reflection.id)
    assert {ground.target for ground in provenance.grounds_of(reflection.id)} == {"o1", "o2"}
    run = provenance.runs[reflection.id]
    assert (run.id, run.verb, run.outcome) == (report.run_id, "reflect", "reflected")
    assert run.prompt_tokens > 0


async def test_it_is_due_at_the_threshold_and_triggers_once(thinking: Open) -> None:
    model = Scripted(infer=insight("Orla likes the early shift", "Orla"))
    agent = await thinking(model)
    await agent.configure(reflection_threshold=15)
    await agent.observe_many(SHIFTS[:2], now=T)
    report = await agent.reflect(now=T)
    assert (report.outcome, report.importance_since_reflection, report.threshold) == ("not_due", 10, 15)
    assert model.asked(AskQuestions) == []
    await agent.observe_many(SHIFTS[2:], now=T)
    assert (await agent.reflect(now=T)).outcome == "reflected"
    assert (await agent.info()).importance_since_reflection == 0


async def test_b28_insights_do_not_trigger_and_idle_calls_cost_nothing(thinking: Open) -> None:
    model = Scripted(
        rate=rate_as(10),
        infer=lambda task: {
            "insights": [
                {"text": "Orla likes mornings", "evidence": [1, 2]},
                {"text": "Orla is at ease", "evidence": [1, 2]},
            ]
        },
    )
    agent = await thinking(model)
    await agent.configure(reflection_threshold=5)
    await agent.observe_many(SHIFTS[:2], now=T)
    assert len((await agent.reflect(now=T)).reflections) == 2
    asked = len(model.tasks)
    for _ in range(20):
        assert (await agent.reflect(now=T)).outcome == "not_due"
    assert len(model.tasks) == asked


async def test_reflections_cite_reflections_and_grow_deeper(thinking: Open) -> None:
    texts = iter(["Orla likes the early shift", "Orla is a morning person", "Orla will ask for mornings"])
    agent = await thinking(
        Scripted(infer=lambda task: {"insights": [{"text": next(texts), "evidence": numbers_of(task, "Orla")}]})
    )
    await agent.observe_many(SHIFTS, now=T)
    depths = [(await agent.reflect(force=True, now=T + timedelta(hours=n))).reflections[0].depth for n in range(3)]
    assert depths == [1, 2, 3]
    tree = await agent.tree()
    assert len(tree.roots) == 1
    assert tree.memories[tree.roots[0]].depth == 3


async def test_the_same_insight_again_gains_evidence_and_is_not_doubled(thinking: Open) -> None:
    agent = await thinking(Scripted(infer=insight("Orla likes the early shift.", "swaps", "cheerful", "sings")))
    await agent.observe_many(SHIFTS, now=T)
    first = (await agent.reflect(force=True, now=T)).reflections[0]
    await agent.observe("Orla sings at dawn", id="o4", importance=5, now=T)
    report = await agent.reflect(force=True, now=T)
    assert (report.outcome, report.reflections, report.reinforced) == ("reflected", (), (first.id,))
    grounds = (await agent.explain(first.id)).grounds_of(first.id)
    assert {ground.target for ground in grounds} == {"o1", "o2", "o4"}
    assert len(grounds) == 3


async def test_questions_see_neither_each_others_touches_nor_insights(thinking: Open) -> None:
    model = Scripted(
        ask=lambda task: {"questions": ["Who likes mornings?", "What is broken?", "Who swaps?"]},
        infer=lambda task: {"insights": [{"text": f"Orla and the kettle: {task.question}", "evidence": [1, 2, 3]}]},
    )
    agent = await thinking(model)
    await agent.observe_many(SHIFTS, now=T)
    later = T + timedelta(days=2)
    report = await agent.reflect(force=True, now=later)
    assert len(report.reflections) == 3
    assert [len(task.statements) for task in model.asked(InferInsights)] == [3, 3, 3]
    assert {(await agent.get(f"o{n}")).last_accessed_at for n in (1, 2, 3)} == {later}


# --- gates -----------------------------------------------------------------------------------------------------


async def test_b01_fenced_and_chatty_replies_are_read(thinking: Open) -> None:
    replies = iter(
        [
            '```json\n{"insights":[{"text":"Orla prefers the early shift","evidence":[1,2]}]}\n```',
            'Sure! Here you go:\n{"insights":[{"text":"Orla avoids the late shift","evidence":[1,2]}]}\nAnything else?',
            '```json\n{"insights": []}\n```',
        ]
    )
    agent = await thinking(Scripted(infer=lambda task: next(replies)))
    await agent.observe_many(SHIFTS, now=T)
    for _ in range(2):
        report = await agent.reflect(force=True, now=T)
        assert [len((await agent.explain(r.id)).grounds_of(r.id)) for r in report.reflections] == [2]
    assert (await agent.reflect(force=True, now=T)).outcome == "no_insight"


async def test_b05_numbers_never_shown_cite_nothing(thinking: Open) -> None:
    agent = await thinking(
        Scripted(
            infer=lambda task: {
                "insights": [
                    {"text": "Orla likes mornings", "evidence": [*numbers_of(task, "swaps"), 12]},
                    {"text": "Orla likes evenings", "evidence": [9]},
                    {"text": "Orla likes nights", "evidence": [0, -1]},
                ]
            }
        )
    )
    await agent.observe_many(SHIFTS, now=T)
    report = await agent.reflect(force=True, now=T)
    assert [reflection.text for reflection in report.reflections] == ["Orla likes mornings"]
    assert len((await agent.explain(report.reflections[0].id)).grounds_of(report.reflections[0].id)) == 1
    index = [refused for refused in report.refused if refused.gate == "index"]
    assert len(index) == 3
    assert all("1–3" in refused.reason for refused in index)
    (run,) = await agent.runs()
    assert run.refused == report.refused


async def test_b43_each_citation_is_one_edge_and_numbers_leave_the_text(thinking: Open) -> None:
    agent = await thinking(Scripted(infer=lambda task: "Orla likes mornings (because of 3, 3, 1, 8)"))
    await agent.observe_many(SHIFTS, now=T)
    (reflection,) = (await agent.reflect(force=True, now=T)).reflections
    assert reflection.text == "Orla likes mornings"
    assert len((await agent.explain(reflection.id)).grounds_of(reflection.id)) == 2


@pytest.mark.parametrize(
    "reply",
    [
        '{"insights":[{"insight":{"text":"Tam naps at noon"}}]}',
        '{"$schema":"x","properties":{"insights":{"type":"array"}}}',
        '{"insights":[{"text":"Tam naps at noon","evidence":[]}]}',
        '{"insights":[{"text":"Tam naps","evidence":[1,2]},{"text":"Tam nap',
        "null",
        "",
    ],
)
async def test_b03_b04_a_reply_that_no_gate_lets_pass_writes_nothing_and_gives_the_trigger_back(
    thinking: Open, reply: str
) -> None:
    agent = await thinking(Scripted(infer=lambda task: reply))
    await agent.observe_many(SHIFTS, now=T)
    try:
        outcome = (await agent.reflect(force=True, now=T)).outcome
    except ReplyRefused:
        outcome = "refused"
        assert (await agent.info()).importance_since_reflection == 15
    assert outcome in ("refused", "no_insight")
    assert (await agent.info()).reflections == 0
    (run,) = await agent.runs()
    assert run.refused


@pytest.mark.report("B06", "B34")
async def test_a_model_that_fails_leaves_the_trigger_and_no_placeholder(thinking: Open) -> None:
    def fail(task: object) -> object:
        raise LanguageModelError("the provider is down")

    agent = await thinking(Scripted(infer=fail))
    await agent.observe_many(SHIFTS, now=T)
    with pytest.raises(LanguageModelError, match="down"):
        await agent.reflect(force=True, now=T)
    info = await agent.info()
    assert (info.importance_since_reflection, info.reflections) == (15, 0)
    (run,) = await agent.runs()
    assert run.outcome == "failed"


async def test_one_failed_question_costs_the_others_nothing(thinking: Open) -> None:
    def infer(task: InferInsights) -> object:
        return (
            ""
            if "broken" in task.question
            else {"insights": [{"text": "Orla likes mornings", "evidence": numbers_of(task, "Orla")}]}
        )

    agent = await thinking(
        Scripted(ask=lambda task: {"questions": ["What is broken?", "Who likes mornings?"]}, infer=infer)
    )
    await agent.observe_many(SHIFTS, now=T)
    report = await agent.reflect(force=True, now=T)
    assert [reflection.text for reflection in report.reflections] == ["Orla likes mornings"]
    assert [refused.gate for refused in report.refused] == ["parse"]


async def test_evidence_that_ended_while_the_model_thought_is_not_cited(thinking: Open, agent: AsyncAgent) -> None:
    """Deleted between the prompt and the write: all or nothing."""
    started, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Scripted):
        async def reply(self, task):
            if isinstance(task, InferInsights):
                started.set()
                await go_on.wait()
            return await super().reply(task)

    thinker = await thinking(Slow(infer=insight("Orla likes the early shift", "Orla")))
    await agent.observe_many(SHIFTS, now=T)
    reflecting = asyncio.create_task(thinker.reflect(force=True, now=T))
    await started.wait()
    await agent.retract("o2", reason="it was Mia", now=T)
    go_on.set()
    report = await reflecting
    assert (report.outcome, report.reflections) == ("no_insight", ())
    assert [refused.gate for refused in report.refused] == ["write"]
    assert "o2 is retracted" in report.refused[0].reason


async def test_b22_two_reflections_at_once_are_one_round(thinking: Open, agent: AsyncAgent) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Scripted):
        async def reply(self, task):
            started.set()
            await go_on.wait()
            return await super().reply(task)

    thinker = await thinking(Slow(infer=insight("Orla likes the early shift", "Orla")))
    await agent.observe_many(SHIFTS, now=T)
    first = asyncio.create_task(thinker.reflect(force=True, now=T))
    await started.wait()
    assert (await agent.reflect(force=True, now=T)).outcome == "busy"
    go_on.set()
    assert (await first).outcome == "reflected"


async def test_a_cancelled_reflection_gives_the_trigger_back(thinking: Open, agent: AsyncAgent) -> None:
    started = asyncio.Event()

    class Hanging(Scripted):
        async def reply(self, task):
            started.set()
            await asyncio.sleep(3600)

    thinker = await thinking(Hanging())
    await agent.observe_many(SHIFTS, now=T)
    reflecting = asyncio.create_task(thinker.reflect(force=True, now=T))
    await started.wait()
    reflecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reflecting
    assert (await agent.info()).importance_since_reflection == 15
    assert (await agent.reflect(force=True, now=T)).outcome != "busy"


async def test_an_insight_in_other_words_gains_evidence_only_where_the_model_says_that_they_are_the_same(
    thinking: Open,
) -> None:
    said = iter(
        [
            "Orla likes the early shift in the mornings",
            "Orla likes the early shift in the morning hours",
            "Orla likes the early shift in the mornings at work",
        ]
    )
    answers = iter([True, False])
    model = Scripted(
        infer=lambda task: {"insights": [{"text": next(said), "evidence": numbers_of(task, "swaps", "being")}]},
        same=lambda task: {"pairs": [{"number": 1, "same": next(answers)}]},
    )
    agent = await thinking(model)
    await agent.observe_many(["Orla swaps her late shift away", "Orla likes being early at the shift"], now=T)
    first = await agent.reflect(force=True, now=T)
    assert model.asked(SaySame) == []  # There was nothing that it could be the same as.
    second = await agent.reflect(force=True, now=T)
    assert (second.reflections, second.reinforced) == ((), (first.reflections[0].id,))
    # Near, but not the same, as the model says: similarity affirms nothing.
    third = await agent.reflect(force=True, now=T)
    assert (len(third.reflections), third.reinforced) == (1, ())
    asked = model.asked(SaySame)
    assert asked[0].pairs == (
        ("Orla likes the early shift in the morning hours", "Orla likes the early shift in the mornings"),
    )


async def test_prompts_can_be_replaced_and_their_version_is_on_the_run(
    memory: AsyncMemory, embedder: Embedder, agent_id: str
) -> None:
    class Curt(InferInsights):
        prompt_version = "curt/7"

        def messages(self) -> list[Message]:
            return [Message(role="user", content=f"{self.question} {memories(self.statements)} JSON please.")]

    model = Scripted(infer=lambda task: {"insights": [{"text": "Orla likes the early shift", "evidence": [1, 2]}]})
    async with await AsyncMemory.open(
        settings=memory.settings, embedder=embedder, language_model=model, prompts=[Curt]
    ) as other:
        agent = other.agent(agent_id)
        await agent.observe_many(["Orla swaps her late shift away", "Orla likes being early at the shift"], now=T)
        assert (await agent.reflect(force=True, now=T)).outcome == "reflected"
        (run,) = await agent.runs()
    assert run.prompt_version == "ask-questions/1 curt/7"
    (task,) = model.asked(InferInsights)
    assert task.messages()[0].content.endswith("JSON please.")


class _Unversioned(InferInsights):
    pass


@pytest.mark.parametrize(
    ("prompts", "told"), [([int], "no subclass"), ([InferInsights], "no subclass"), ([_Unversioned], "prompt_version")]
)
async def test_prompts_that_replace_nothing_or_hide_their_version_are_refused(
    prompts: list[type[Any]], told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        await AsyncMemory.open(prompts=prompts)
