"""What the built-in engine answers and tells: memories quoted once, with who said it, and nothing about memory."""

from __future__ import annotations

from collections.abc import Sequence

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
