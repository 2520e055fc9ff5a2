"""What the built-in engine answers and tells: memories quoted once, with who said it, and nothing about memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from graphmem.language.asking import AnswerQuestion
from graphmem.language.base import Statement
from graphmem.language.dialogue import SummariseTalk
from graphmem.language.extractive import Extractive
from graphmem.language.gates import support
from graphmem.language.planning import SumUp

from .stories import START, statement

GATHERED = (
    "It was about the Petrel twice, along with the garboard plank, on 12 June 2026: "
    "first “the Petrel leaks”, later “caulked the Petrel”."
)


async def answer(question: str, *statements: Statement) -> list[str]:
    task = AnswerQuestion(question=question, who="Ines Calder", now=START, statements=statements)
    said = (await Extractive().reply(task)).value.sentences
    by_number = {one.number: one for one in statements}
    for sentence in said:
        cited = [by_number[number] for number in sentence.evidence]
        assert isinstance(support(sentence.text, cited, quoting=True), dict), sentence.text
    return [sentence.text for sentence in said]


LEAK = statement(1, "The Petrel leaks at the garboard plank")
INFERRED = statement(2, GATHERED, type="reflection")


async def test_that_memories_return_to_something_is_no_answer() -> None:
    assert await answer("What do you know of the Petrel?", LEAK, INFERRED) == [LEAK.text]
    asked = await answer("What has been happening with the Petrel?", LEAK, INFERRED)
    assert [text.split(":")[0] for text in asked] == [LEAK.text, "I gather"]
    thought = statement(2, "The Petrel is not safe to sail.", type="reflection")
    assert await answer("What do you know of the Petrel?", LEAK, thought) == [
        LEAK.text, "I gather: “The Petrel is not safe to sail.”",
    ]  # fmt: skip


async def test_a_summary_speaks_where_nothing_else_does() -> None:
    summary = statement(2, "Friday 12 June 2026: “The Petrel leaks at the garboard plank”.", type="reflection",
                        kind="summary")  # fmt: skip
    assert await answer("What do you know of the Petrel?", LEAK, summary) == [LEAK.text]
    (only,) = await answer("What do you know of the Petrel?", summary)
    assert only.startswith("In short: “Friday 12 June 2026: ‘The Petrel")


async def test_the_steps_of_one_plan_are_one_answer_with_what_became_of_it() -> None:
    def steps(state: str) -> Sequence[Statement]:
        text = "caulk the Petrel"
        return [statement(n, f"{text} ({n} of 3)", type="plan", kind="step", state=state) for n in (1, 2, 3)]

    assert await answer("What about the Petrel?", *steps("planned")) == ["I plan: “caulk the Petrel”"]
    assert await answer("What about the Petrel?", *steps("missed")) == [
        "I planned this and missed it: “caulk the Petrel”"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Pavel said the ferry is late", "Pavel said the ferry is late"),
        ("Pavel Marsh says: the ferry is late", "Pavel Marsh says: the ferry is late"),
        ("pavel has told everybody that the ferry is late", "pavel has told everybody that the ferry is late"),
        ("The ferry is late", "Pavel Marsh told me: “The ferry is late”"),
        ("Pavlova said the ferry is late", "Pavel Marsh told me: “Pavlova said the ferry is late”"),
        ("Rosa said the ferry is late", "Pavel Marsh told me: “Rosa said the ferry is late”"),
    ],
)
async def test_no_speaker_is_named_twice(text: str, told: str) -> None:
    said = statement(1, text, source="Pavel Marsh")
    assert await answer("What about the ferry?", said) == [told]
    talked = await Extractive().reply(SummariseTalk(who="Ines Calder", other="Pavel Marsh", statements=(said,)))
    summed = await Extractive().reply(
        SumUp(agent="Ines Calder", name="Ines Calder", day="Friday 12 June 2026", statements=(said,))
    )
    before = "Pavel Marsh said" not in told and "told me" in told
    assert ("Pavel Marsh said: “" in talked.value.summaries[0].text) == before
    assert ("Pavel Marsh said “" in summed.value.text) == before


def turn(number: int, source: str, text: str) -> Statement:
    at = START + timedelta(minutes=number)
    return statement(number, text, kind="utterance", source=source).model_copy(update={"occurred_at": at})


MEETING = turn(1, "Annie", "My meeting is with Dr. Weiss tomorrow at 9.")


@pytest.mark.parametrize("more", ["Please call me Annie.", "Thanks, that is lovely.", "Bring the blue folder."])
async def test_what_was_said_next_does_not_pad_an_answer_that_tells_the_time(more: str) -> None:
    said = await answer("When is my meeting?", MEETING, turn(2, "Annie", more))
    assert said == ["Annie told me: “My meeting is with Dr. Weiss tomorrow at 9.”"]


async def test_what_was_said_next_is_told_where_it_tells_the_time_or_more_of_the_matter() -> None:
    feast, invitation = turn(1, "Tobias", "I am giving a lantern feast."), turn(2, "Tobias", "Come on Friday at seven.")
    for question in ("When is the lantern feast?", "What do you know of the lantern feast?"):
        assert len(await answer(question, feast, invitation)) == 2, question
    greeting = turn(2, "Tobias", "Have a good day!")
    assert len(await answer("What do you know of the lantern feast?", feast, greeting)) == 1


LIKES = turn(1, "assistant", "What does Ben like to eat?")
CURRY = turn(2, "Ben", "I love curry.")


async def test_a_question_is_no_answer_to_a_question_and_its_reply_is() -> None:
    for question in ("What does Ben like to eat?", "What would Ben eat?"):
        assert await answer(question, LIKES, CURRY) == ["Ben told me: “I love curry.”"]
    assert await answer("What does Ben like to eat?", LIKES) == []
    replies = [turn(2, "Ben", "Hmm, well."), turn(2, "Ben", "What do you mean?"), turn(9, "Ben", "I love curry.")]
    for reply in [*replies, turn(2, "assistant", "I mean curry.")]:
        assert await answer("What would Ben eat?", LIKES, reply) == []


async def test_that_somebody_asks_of_it_belongs_to_what_is_known_of_it() -> None:
    asked = turn(1, "Tobias", "Will you come to my lantern feast on Friday?")
    for question in ("What do you know of the lantern feast?", "What did Tobias ask of the lantern feast?"):
        assert await answer(question, asked) == ["Tobias told me: “Will you come to my lantern feast on Friday?”"]
