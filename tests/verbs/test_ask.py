"""Answers from memory: what is cited, what is not known, and what gates keep out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, InvalidText
from graphmem.models.answers import UNKNOWN

T = datetime(2026, 6, 12, 8, tzinfo=UTC)


async def party(agent: AsyncAgent) -> None:
    """What somebody is told of a feast in two turns, among other things."""
    turns = [
        ("t1", "Ines", "I am getting everything ready for the lantern feast in the net loft."),
        ("t2", "Ines", "You are invited: Friday at seven, bring a chair."),
        ("t3", "Tobias", "That sounds lovely."),
    ]
    for number, (id_, source, text) in enumerate(turns):
        await agent.observe(
            text, id=id_, source=source, kind="utterance", session="quay", now=T + timedelta(minutes=number)
        )
    for number, text in enumerate(["The ferry was late.", "Rope costs more than last year.", "Gulls stole the bread."]):
        await agent.observe(text, id=f"o{number}", now=T + timedelta(hours=number + 1))


async def test_an_answer_quotes_what_is_about_the_question_and_cites_it(agent: AsyncAgent) -> None:
    await party(agent)
    answer = await agent.ask("What do you know of the lantern feast?", now=T + timedelta(days=1))
    assert answer.known
    assert "lantern feast in the net loft" in answer.text
    assert answer.citations == ("t1", "t2")
    assert not any(sentence.inferred for sentence in answer.sentences)


async def test_a_fragment_brings_its_invitation(agent: AsyncAgent) -> None:
    """The second turn shares no word with the question: alone the topic would come without the invitation."""
    await party(agent)
    answer = await agent.ask("What do you know of the lantern feast?", now=T + timedelta(days=1))
    assert "You are invited: Friday at seven" in answer.text


@pytest.mark.parametrize(
    "question", ["Who discovered penicillin?", "Does Ines like tomatoes?", "Where is the lantern feast of Malta?"]
)
async def test_what_memory_does_not_tell_is_not_known(agent: AsyncAgent, question: str) -> None:
    await party(agent)
    answer = await agent.ask(question, now=T + timedelta(days=1))
    assert (answer.known, answer.text, answer.sentences) == (False, UNKNOWN, ())
    assert answer.looked_at


@pytest.mark.usefixtures("born")
async def test_an_agent_without_memories_knows_nothing(agent: AsyncAgent) -> None:
    answer = await agent.ask("Who are you?")
    assert (answer.known, answer.looked_at) == (False, ())


async def test_a_change_reports_the_answers_that_were_made_from_it(agent: AsyncAgent) -> None:
    await party(agent)
    answer = await agent.ask("What do you know of the lantern feast?", now=T + timedelta(days=1))
    report = await agent.supersede("t2", text="Ines says the feast is on Saturday", reason="moved")
    assert [(run.id, run.verb) for run in report.used_by] == [(answer.run_id, "ask")]
    again = await agent.ask("What do you know of the lantern feast?", now=T + timedelta(days=2))
    assert "Friday" not in again.text
    assert "t2" not in again.looked_at


async def test_forgetting_takes_the_answer_that_quotes_it(memory: AsyncMemory, agent: AsyncAgent) -> None:
    await party(agent)
    answer = await agent.ask("What do you know of the lantern feast?", now=T + timedelta(days=1))
    await agent.forget("t1")
    (row,) = await memory._engine.store.query("run/get", agentId=agent.id, runId=answer.run_id)
    assert "net loft" not in str(row["run"])


def answering(*sentences: tuple[str, tuple[str, ...]]) -> Callable[[Any], object]:
    """A model that says these sentences, each citing what holds one of its words."""
    return lambda task: {
        "sentences": [{"text": text, "evidence": numbers_of(task, *words) or [99]} for text, words in sentences]
    }


async def test_world_knowledge_is_refused(thinking: Open) -> None:
    model = Scripted(
        answer=answering(
            ("Adam Smith is my neighbour.", ("neighbour",)),
            ("Adam Smith is the author of The Wealth of Nations.", ("neighbour",)),
        )
    )
    agent = await thinking(model)
    await agent.observe("Adam Smith is my neighbour and mends nets.", id="n", now=T)
    answer = await agent.ask("Who is Adam Smith?", now=T)
    assert answer.text == "Adam Smith is my neighbour."
    assert [refused.gate for refused in answer.refused] == ["support"]
    assert "Wealth" in answer.refused[0].item


async def test_an_embellishment_is_refused_by_the_question_whether_it_follows(thinking: Open) -> None:
    """No name and no number is new, so only a model that is asked apart can tell."""
    said = "Sam runs for mayor and will speak to everybody soon."
    model = Scripted(
        answer=answering((said, ("mayor",)), ("Sam runs for mayor.", ("mayor",))),
        check=lambda task: {
            "verdicts": [
                {"number": number, "follows": "speak" not in claim.text, "reason": "that he will speak"}
                for number, claim in enumerate(task.claims, start=1)
            ]
        },
    )
    agent = await thinking(model)
    await agent.observe("Sam runs for mayor.", id="s", now=T)
    answer = await agent.ask("What does Sam do?", now=T)
    assert answer.text == "Sam runs for mayor."
    (refused,) = answer.refused
    assert (refused.gate, refused.item) == ("support", said)
    assert "that he will speak" in refused.reason


async def test_citations_that_were_not_shown_and_no_verdict_are_refused(thinking: Open) -> None:
    model = Scripted(
        answer=answering(("Sam runs for mayor.", ("mayor",)), ("Sam runs a mill.", ("nothing",))),
        check=lambda task: {"verdicts": []},
    )
    agent = await thinking(model)
    await agent.observe("Sam runs for mayor.", id="s", now=T)
    answer = await agent.ask("What does Sam do?", now=T)
    assert not answer.known
    assert [refused.gate for refused in answer.refused] == ["index", "support"]
    assert (await agent.run(answer.run_id)).run.refused == answer.refused


async def test_what_is_inferred_is_marked_and_without_reflections_missing(agent: AsyncAgent) -> None:
    for number in range(4):
        await agent.observe(f"Klara Berg paints the harbour mural, part {number}.", id=f"k{number}", now=T)
    report = await agent.reflect(force=True, now=T)
    assert report.reflections
    question = "What has been happening with the harbour mural of Klara Berg?"
    full = await agent.ask(question, now=T + timedelta(hours=1))
    without = await agent.ask(question, types=["observation"], now=T + timedelta(hours=1))
    nothing = await agent.ask(question, types=[], now=T + timedelta(hours=1))
    only = await agent.ask(question, types=["reflection"], now=T + timedelta(hours=1))
    assert {sentence.inferred for sentence in only.sentences} == {True}
    assert set(only.citations) <= {reflection.id for reflection in report.reflections}
    assert any(sentence.inferred for sentence in full.sentences)
    assert not any(sentence.inferred for sentence in without.sentences)
    assert without.known
    assert (full.text, full.citations) != (without.text, without.citations)
    assert not nothing.known


async def test_stale_beliefs_are_not_told(agent: AsyncAgent) -> None:
    for number in range(3):
        await agent.observe(f"Klara Berg paints the harbour mural, part {number}.", id=f"k{number}", now=T)
    await agent.reflect(force=True, now=T)
    await agent.retract("k1", reason="a dream")
    answer = await agent.ask("What has been happening with the harbour mural?", now=T)
    assert answer.known
    assert not any(sentence.inferred for sentence in answer.sentences)
    assert answer.withheld_stale


async def test_what_cannot_be_asked_is_refused(agent: AsyncAgent) -> None:
    with pytest.raises(InvalidText):
        await agent.ask(" ")
    with pytest.raises(InvalidInput, match="token_budget"):
        await agent.ask("Who?", token_budget=0)
    with pytest.raises(InvalidInput, match="'dream' is none of"):
        await agent.ask("Who?", types=["dream"])  # pyright: ignore[reportArgumentType]


async def test_the_budget_bounds_what_is_looked_at(agent: AsyncAgent) -> None:
    await party(agent)
    answer = await agent.ask("What do you know of the lantern feast?", token_budget=30, now=T)
    assert answer.left_out
    assert "t1" in answer.looked_at
