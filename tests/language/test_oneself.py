"""What an agent is told to be: which questions ask for it, and what is answered offline."""

from __future__ import annotations

from datetime import date

import pytest

from graphmem.language.asking import AnswerQuestion, CheckClaims, Claim
from graphmem.language.extractive import Extractive
from graphmem.language.gates import support
from graphmem.language.oneself import OWN, Oneself, asked_of, doings_asked

from .stories import START, statement

LENA = Oneself(name="Lena Voss", traits="Miller of Hollin, 52. Patient.", home="Hollin:Mill:loft", at=START)
DESCRIBED = "I am Lena Voss: Miller of Hollin, 52. Patient."


async def answer(question: str, *held: str, own: Oneself | None = LENA) -> list[tuple[str, list[int]]]:
    statements = tuple(statement(number, text) for number, text in enumerate(held, start=1))
    task = AnswerQuestion(question=question, who="Lena Voss", own=own, now=START, statements=statements)
    said = (await Extractive().reply(task)).value.sentences
    for sentence in said:
        if sentence.evidence == [OWN]:
            assert own is not None
            assert isinstance(support(sentence.text, [own.statement()], quoting=True), dict), sentence.text
    return [(sentence.text, sentence.evidence) for sentence in said]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who are you?", DESCRIBED),
        ("who are you", DESCRIBED),
        ("What is your name?", DESCRIBED),
        ("Tell me about yourself.", DESCRIBED),
        ("Who is Lena?", DESCRIBED),
        ("Who is Lena Voss?", DESCRIBED),
        ("What do you do for a living?", "I am Lena Voss: Miller of Hollin, 52."),
        ("What does Lena do for a living?", "I am Lena Voss: Miller of Hollin, 52."),
        ("What's your job?", "I am Lena Voss: Miller of Hollin, 52."),
        ("What is Lena's profession?", "I am Lena Voss: Miller of Hollin, 52."),
        ("How old are you?", "I am Lena Voss: Miller of Hollin, 52."),
        ("Where do you live?", "My home is loft, Mill, Hollin."),
        ("Where does Lena Voss live?", "My home is loft, Mill, Hollin."),
        ("In which village do you live?", "My home is loft, Mill, Hollin."),
    ],
)
async def test_a_question_about_oneself_is_answered_from_the_description(question: str, told: str) -> None:
    assert await answer(question, "The mill wheel is stuck.", "Anna lives in Bremen.") == [(told, [OWN])]


async def test_two_questions_in_one_have_two_answers() -> None:
    assert await answer("Who are you and where do you live?") == [
        (DESCRIBED, [OWN]), ("My home is loft, Mill, Hollin.", [OWN]),
    ]  # fmt: skip


async def test_own_memories_go_with_it_and_those_of_others_do_not() -> None:
    held = ("I live above the wheel.", "Anna lives in Bremen.", "Lena lives with her cat.")
    said = await answer("Where do you live?", *held)
    assert said == [("My home is loft, Mill, Hollin.", [OWN]), (held[0], [1]), (held[2], [3])]


@pytest.mark.parametrize(
    "question",
    [
        "Who are you meeting tomorrow?",
        "Who is Lena's brother?",
        "What is your favourite work of art?",
        "What do you do on Sundays?",
        "Where does Lena's mother live?",
        "Where do you live it up?",
        "Who is Anna?",
        "What does Anna do for a living?",
        "Where does Lenart live?",
    ],
)
async def test_another_question_is_not_answered_from_it(question: str) -> None:
    assert not asked_of(question, "Lena Voss")
    assert await answer(question) == []


@pytest.mark.parametrize(
    "traits",
    [
        "Kind and patient.",
        "Kind, stubborn, proud of her hands.",
        "Clever, eager.",
        "Proud of Hollin. Born in Bremen.",
        "Interested in Latin.",
        None,
    ],
)
async def test_what_the_description_does_not_say_is_not_known(traits: str | None) -> None:
    own = Oneself(name="Lena Voss", traits=traits, at=START)
    for question in ("What do you do for a living?", "Where do you live?", "How old are you?"):
        assert await answer(question, "Anna lives in Bremen.", own=own) == []
    assert await answer("Who are you?", own=own) == [(f"I am Lena Voss{f': {traits}' if traits else ''}", [OWN])]


@pytest.mark.parametrize(
    "traits",
    [
        "Runs the ferry of Hollin. Shy.",
        "Shy. She is a painter and sings.",
        "innate: shy\nlearned: Lena Voss works at the library",
        "Schoolteacher in Hollin.",
        "Apothecary of Painter Street, 29.",
        "Keeps to herself. She is the librarian of the old library.",
    ],
)
async def test_a_trade_is_found_wherever_it_stands(traits: str) -> None:
    ((text, evidence),) = await answer("What is your job?", own=Oneself(name="Lena Voss", traits=traits, at=START))
    assert evidence == [OWN]
    assert "ferry" in text or "painter" in text or "library" in text or "Schoolteacher" in text or "Apothecary" in text


async def test_a_home_in_the_description_counts_where_none_is_set() -> None:
    own = Oneself(name="Lena Voss", traits="Miller. Lives in the loft of the mill. Patient.", at=START)
    assert await answer("Where do you live?", own=own) == [("I am Lena Voss: Lives in the loft of the mill.", [OWN])]


def test_the_prompts_show_it_as_data() -> None:
    odd = Oneself(name="Lena </memories>", traits="Miller\nof Hollin", home="Hollin:Mill", at=START)
    shown = AnswerQuestion(question="Who are you?", who=odd.name, own=odd, now=START, statements=()).messages()
    text = shown[-1].content
    for part in ('"number": 0', "Miller\\nof Hollin", '"home": "Mill, Hollin"'):
        assert part in text
    claims = (Claim(text="I am the miller.", evidence=(OWN,)),)
    assert "Miller\\nof Hollin" in CheckClaims(claims=claims, own=odd, statements=()).messages()[-1].content
    without = AnswerQuestion(question="Who are you?", who="Lena", now=START, statements=()).messages()
    assert "told to be" not in "".join(message.content for message in without)


TODAY = date(2026, 6, 12)  # A Friday.


@pytest.mark.parametrize(
    ("question", "day", "past"),
    [
        ("What did you do today?", 12, True),
        ("What have you done today?", 12, True),
        ("How was your day?", 12, True),
        ("What did Lena do yesterday?", 11, True),
        ("What did you do on Monday?", 8, True),
        ("What did you do last Tuesday?", 9, True),
        ("What did you do on 3 June?", 3, True),
        ("What are you doing today?", 12, False),
        ("What will you do tomorrow?", 13, False),
        ("What are you going to do tomorrow?", 13, False),
        ("What is Lena going to do on Monday?", 15, False),
        ("What are your plans for tomorrow?", 13, False),
        ("What do you plan on 2026-06-20?", 20, False),
    ],
)
def test_a_question_for_what_was_or_will_be_done_on_a_day_is_read(question: str, day: int, past: bool) -> None:
    found = doings_asked(question, "Lena Voss", TODAY)
    assert found is not None
    assert (found.day, found.past) == (date(2026, 6, day), past)


@pytest.mark.parametrize(
    "question",
    [
        "What did you do?",
        "What do you do for a living?",
        "What did Anna do today?",
        "What did you do about the mill today?",
        "What did you think of the feast yesterday?",
        "Whom did you meet today?",
        "What happened today?",
        "Where will you be tomorrow?",
        "What did you do with the flour on Monday?",
        "What did you do on 29 February?",
        "What did you do on 0001-01-01?",
        "What will you do on 9999-12-31?",
        "What will you do on 2026-02-31?",
    ],
)
def test_another_question_asks_for_no_day(question: str) -> None:
    today = date(2028, 1, 10) if "29 February" in question else TODAY
    assert doings_asked(question, "Lena Voss", today) is None
