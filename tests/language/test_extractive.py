"""The engine without a model: deterministic, grounded, and saying something over several memories."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.errors import LanguageModelError
from graphmem.language import load
from graphmem.language.base import Message, Statement, Task
from graphmem.language.extractive import Extractive
from graphmem.language.gates import Indexed, index, normalise_text, shape, support
from graphmem.language.prompts import (
    AskQuestions,
    InferInsights,
    Insight,
    Questions,
    RateImportance,
    Reconsider,
    Reconsidered,
)
from graphmem.settings import load_settings

from .stories import HARBOUR, START, renumbered, statement, story, talk


async def ask(statements: Sequence[Statement], count: int = 3) -> list[str]:
    return (await Extractive().reply(AskQuestions(statements=tuple(statements), count=count))).value.questions


async def infer(question: str, statements: Sequence[Statement], count: int = 5) -> list[Insight]:
    task = InferInsights(question=question, statements=tuple(statements), count=count)
    return (await Extractive().reply(task)).value.insights


async def reflect(statements: Sequence[Statement]) -> list[tuple[str, Insight]]:
    """Every insight to every question, as the verb asks for them."""
    return [(question, insight) for question in await ask(statements) for insight in await infer(question, statements)]


async def reconsider(hypothesis: str, statements: Sequence[Statement], question: str | None = None) -> Reconsidered:
    task = Reconsider(question=question, hypothesis=hypothesis, statements=tuple(statements))
    return (await Extractive().reply(task)).value


def cited(insight: Insight, statements: Sequence[Statement]) -> list[Statement]:
    by_number = {statement.number: statement for statement in statements}
    return [by_number[number] for number in insight.evidence]


STORIES: dict[str, tuple[Statement, ...]] = {"events": story(*HARBOUR), "conversation": talk()}


@pytest.fixture(params=sorted(STORIES))
def told(request: pytest.FixtureRequest) -> tuple[Statement, ...]:
    return STORIES[request.param]


def test_the_settings_name_it() -> None:
    assert load(load_settings()).name == "extractive"


# --- questions -------------------------------------------------------------------------------------------------


async def test_questions_name_what_the_memories_return_to(told: tuple[Statement, ...]) -> None:
    questions = await ask(told)
    assert 1 <= len(questions) <= 3
    assert len(set(questions)) == len(questions)
    topics = {"mural", "bread", "bakery", "pottery", "bowl", "knee", "football"}
    for question in questions:
        assert question.endswith("?")
        assert topics & set(re.findall(r"\w+", question.lower()))


async def test_questions_name_the_speaker() -> None:
    questions = " ".join(await ask(talk()))
    assert "Mira" in questions
    assert "Tom" in questions


async def test_no_more_questions_than_asked_for(told: tuple[Statement, ...]) -> None:
    for count in (1, 2, 5):
        assert len(await ask(told, count)) <= count


@pytest.mark.parametrize("texts", [(), ("Hello there!",), ("Hello!", "Bye!"), ("Klara paints.", "The ferry came in.")])
async def test_where_nothing_recurs_nothing_is_asked_or_made_up(texts: tuple[str, ...]) -> None:
    assert await ask(story(*texts)) == []
    assert await infer("What has Klara been doing?", story(*texts)) == []


# --- insights --------------------------------------------------------------------------------------------------


async def test_insights_cite_at_least_two_memories_and_copy_none(told: tuple[Statement, ...]) -> None:
    found = await reflect(told)
    assert found
    for _, insight in found:
        assert len(set(insight.evidence)) >= 2
        assert len(insight.text) <= 300
        said = normalise_text(insight.text)
        for one in told:
            assert said != normalise_text(one.text)
            assert said not in normalise_text(one.text)


async def test_insights_pass_the_gates_of_a_model(told: tuple[Statement, ...]) -> None:
    for _, insight in await reflect(told):
        indexed = index(insight, [one.number for one in told])
        assert isinstance(indexed, Indexed)
        assert indexed.notes == ()
        scores = support(indexed.text, cited(insight, told))
        assert isinstance(scores, dict), scores
        assert all(score > 0 for score in scores.values())


async def test_an_insight_tells_who_what_how_often_and_when() -> None:
    (question,) = [question for question in await ask(talk()) if "knee" in question]
    insight = (await infer(question, talk()))[0]
    assert "Tom" in insight.text
    assert "knee" in insight.text
    assert "three times" in insight.text
    assert "from 24 June to 6 July 2026" in insight.text
    assert insight.evidence == [4, 6, 8]


async def test_each_memory_cited_shares_the_topic(told: tuple[Statement, ...]) -> None:
    for question, insight in await reflect(told):
        outside = re.sub("“[^”]*”", " ", insight.text).lower()
        words = set(re.findall(r"[a-z]{4,}", outside)) & set(re.findall(r"[a-z]{4,}", question.lower()))
        assert any(all(word.rstrip("s") in one.text.lower() for one in cited(insight, told)) for word in words)


async def test_taking_a_citation_away_changes_the_text_or_leaves_none(told: tuple[Statement, ...]) -> None:
    for question, insight in await reflect(told):
        evidence = cited(insight, told)
        for left_out in evidence:
            rest = renumbered([one for one in evidence if one != left_out])
            reply = await reconsider(insight.text, rest, question)
            assert reply.verdict != "confirmed"
            assert normalise_text(reply.text) != normalise_text(insight.text)


async def test_what_is_shown_beside_the_evidence_does_not_change_the_text() -> None:
    evidence = story(HARBOUR[0], HARBOUR[1], HARBOUR[3], HARBOUR[5])
    beside = story("The ferry brought Marta from Oslo.", "Marta asked Klara Berg for a loan of blue oars.", first=5)
    (alone,) = [one for one in await infer("What about the harbour mural?", evidence) if "mural" in one.text]
    (among,) = [
        one for one in await infer("What about the harbour mural?", (*evidence, *beside)) if "mural" in one.text
    ]
    assert alone == among


async def test_questions_are_not_what_a_speaker_says_of_themselves() -> None:
    found = await reflect(talk())
    asked = next(one.number for one in talk() if one.text.startswith("Oh no, did you see a doctor"))
    assert all(
        asked not in insight.evidence for _, insight in found if "Mira" in insight.text and "knee" in insight.text
    )


async def test_plans_are_nothing_that_happened_again_and_again() -> None:
    shown = (
        statement(1, "Paint the harbour mural with Jonas", type="plan"),
        statement(2, "Buy white paint for the harbour mural", type="plan"),
        statement(3, "Sketched the harbour mural"),
    )
    assert await infer("What about the harbour mural?", shown) == []
    (insight,) = await infer("What about the harbour mural?", (*shown, statement(4, "Measured the harbour mural")))
    assert insight.evidence == [3, 4]


async def test_greetings_and_names_are_no_topics() -> None:
    shown = tuple(
        statement(
            number, f"Hey {'Tom' if number % 2 else 'Mira'}! Thanks, take care!", source="Mira" if number % 2 else "Tom"
        )
        for number in range(1, 9)
    )
    assert await ask(shown) == []


async def test_captions_of_photographs_are_not_quoted() -> None:
    shown = (
        statement(1, "I started pottery last week! [shares a photo of a vase on a table]", source="Mira"),
        statement(2, "Pottery calms me. [shares a photo of a table with a vase]", source="Mira"),
    )
    (insight,) = await infer("What has Mira been saying about pottery?", shown)
    assert "photo" not in insight.text
    assert "vase" not in insight.text


# --- insights over insights ------------------------------------------------------------------------------------


async def tower() -> tuple[tuple[Statement, ...], list[Insight]]:
    """Observations, what was inferred from them as memories, and what is inferred from those."""
    texts = (
        "Klara Berg sketched the harbour mural on the wall of the bakery.",
        "Klara Berg painted the gulls of the harbour mural.",
        "The rain washed the harbour mural off the wall of the bakery.",
        "Jonas opened the bakery an hour late.",
        "Mrs Lund counted the coins in the bakery till.",
        "A sailor slept on the floor of the bakery.",
    )
    base = story(*texts)
    found = [insight for _, insight in await reflect(base)]
    later = START + timedelta(days=1)
    derived = tuple(
        statement(number, insight.text, type="reflection", occurred_at=later)
        for number, insight in enumerate(found, start=len(base) + 1)
    )
    shown = (*base, *derived)
    return shown, [insight for _, insight in await reflect(shown)]


async def test_reflections_rest_on_reflections_and_quote_nothing_twice() -> None:
    shown, found = await tower()
    over = [insight for insight in found if all(one.type == "reflection" for one in cited(insight, shown))]
    assert over
    for insight in over:
        assert len(insight.evidence) >= 2
        assert "“" not in insight.text
        assert isinstance(support(insight.text, cited(insight, shown)), dict)


async def test_an_insight_over_insights_is_derived_again_from_its_own_evidence() -> None:
    shown, found = await tower()
    for insight in found:
        evidence = cited(insight, shown)
        assert (await reconsider(insight.text, renumbered(evidence))).verdict == "confirmed"
        for left_out in evidence:
            rest = renumbered([one for one in evidence if one != left_out])
            assert (await reconsider(insight.text, rest)).verdict != "confirmed"


async def test_b28_insights_over_insights_end_at_the_third_level() -> None:
    shown = story(
        "Two broader insights tie the mural to the bakery.",
        "Two broader insights tie the mural to the ferry.",
        "Three broader insights meet in the mural: the rain, the gulls and the wall.",
    )
    shown = tuple(one.model_copy(update={"type": "reflection", "kind": "insight"}) for one in shown)
    assert await reflect(shown) == []
    assert await infer("What connects the bakery and the ferry with the mural?", shown) == []


async def test_reflecting_again_with_nothing_new_adds_nothing() -> None:
    shown, found = await tower()
    later = START + timedelta(days=2)
    more = tuple(
        statement(number, insight.text, type="reflection", occurred_at=later)
        for number, insight in enumerate(found, start=len(shown) + 1)
    )
    again = [insight.text for _, insight in await reflect((*shown, *more))]
    known = {normalise_text(one.text) for one in (*shown, *more)}
    assert [text for text in again if normalise_text(text) in known] == []


# --- reconsidering ---------------------------------------------------------------------------------------------

MURAL = story(HARBOUR[0], HARBOUR[1], HARBOUR[3], HARBOUR[5])


async def mural_insight(shown: Sequence[Statement] = MURAL) -> Insight:
    return next(
        one for one in await infer("What has been happening with the harbour mural?", shown) if "mural" in one.text
    )


async def test_unchanged_evidence_confirms_word_for_word() -> None:
    insight = await mural_insight()
    reply = await reconsider(insight.text, MURAL)
    assert (reply.verdict, reply.text, reply.evidence) == ("confirmed", insight.text, insight.evidence)


async def test_evidence_in_another_order_and_numbering_confirms_too() -> None:
    insight = await mural_insight()
    assert (await reconsider(insight.text, renumbered(MURAL[::-1]))).verdict == "confirmed"


async def test_a_replacement_on_the_same_matter_revises() -> None:
    insight = await mural_insight()
    new = statement(4, "Klara Berg gave the harbour mural up and sold her brushes.", kind="fact")
    reply = await reconsider(insight.text, (*MURAL[:3], new))
    assert reply.verdict == "revised"
    assert "gave the harbour mural up" in reply.text
    assert 4 in reply.evidence
    assert HARBOUR[5].split(" a ")[0][-20:] not in reply.text


async def test_a_replacement_about_something_else_leaves_the_rest() -> None:
    insight = await mural_insight()
    new = statement(4, "The letter was for somebody else.", kind="fact")
    reply = await reconsider(insight.text, (*MURAL[:3], new))
    assert reply.verdict == "revised"
    assert reply.evidence == [1, 2, 3]
    assert reply.text.startswith("It was about the harbour mural three times")


async def test_one_of_two_replaced_by_something_else_retracts_with_a_reason() -> None:
    shown = MURAL[:2]
    insight = await mural_insight(shown)
    reply = await reconsider(insight.text, (shown[0], statement(2, "The letter was for somebody else.", kind="fact")))
    assert reply.verdict == "retracted"
    assert "the harbour mural" in reply.reason
    assert reply.text == ""


@pytest.mark.parametrize("left", [0, 1])
async def test_too_little_evidence_retracts(left: int) -> None:
    insight = await mural_insight()
    reply = await reconsider(insight.text, MURAL[:left])
    assert reply.verdict == "retracted"
    assert reply.reason


async def test_a_hypothesis_of_another_model_is_never_repeated_but_told_anew() -> None:
    hypothesis = "Klara Berg will never finish the harbour mural because the weather is against her."
    reply = await reconsider(hypothesis, MURAL)
    assert reply.verdict == "revised"
    assert normalise_text(reply.text) != normalise_text(hypothesis)
    assert isinstance(support(reply.text, [MURAL[number - 1] for number in reply.evidence]), dict)
    assert (await reconsider("Bananas are cheap.", MURAL, "How are bananas?")).verdict == "retracted"


# --- robustness ------------------------------------------------------------------------------------------------


async def test_ratings_come_numbered_from_one() -> None:
    reply = await Extractive().reply(RateImportance(texts=("Brushing teeth", "My father died.", "")))
    assert [rating.number for rating in reply.value.ratings] == [1, 2, 3]
    assert reply.value.ratings[0].importance < reply.value.ratings[1].importance


async def test_its_replies_are_json_that_passes_the_gates(told: tuple[Statement, ...]) -> None:
    reply = await Extractive().reply(AskQuestions(statements=told))
    assert shape(json.loads(reply.raw), Questions).value == reply.value
    assert reply.refused == ()


async def test_another_task_is_refused() -> None:
    class Sing(Task[Questions]):
        prompt_version = "sing/1"
        reply_model = Questions

        def messages(self) -> list[Message]:
            return []

    with pytest.raises(LanguageModelError, match="Sing"):
        await Extractive().reply(Sing())


@pytest.mark.parametrize(
    "texts",
    [
        (
            "Klara malt das Wandbild am Hafen.",
            "Der Regen wusch das Wandbild ab.",
            "Klara übermalt das Wandbild mit Möwen.",
        ),
        ("Клара рисует фреску в порту.", "Дождь смыл фреску.", "Клара снова рисует фреску."),
        ("クララは港で壁画を描いた。", "雨が壁画を洗い流した。", "クララは壁画をもう一度描いた。"),
        ("كلارا ترسم جدارية الميناء", "المطر غسل جدارية الميناء", "كلارا تصلح جدارية الميناء"),
    ],
    ids=["german", "russian", "japanese", "arabic"],
)
async def test_other_languages_work_roughly(texts: tuple[str, ...]) -> None:
    found = await reflect(story(*texts))
    assert found
    assert all(len(insight.evidence) >= 2 for _, insight in found)


_WORDS = [
    "Klara",
    "the",
    "mural",
    "paints",
    "“",
    "”",
    "…",
    "[",
    "]",
    ":",
    "?",
    "!",
    "Hey",
    "Tom's",
    "12",
    "—",
    "\n",
    "壁画",
]
_TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=80),  # what can be stored
    st.lists(
        st.sampled_from(_WORDS),
        min_size=1,
    )
    .map(" ".join)
    .filter(str.strip),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            _TEXTS,
            st.sampled_from([None, "Tom", "Mira B.", "“", "ß"]),
            st.sampled_from(["observation", "reflection", "plan"]),
        ),
        max_size=8,
    ),
    st.text(max_size=40),
)
async def test_any_memories_are_answered_and_what_is_written_holds(
    given_: list[tuple[str, str | None, str]], question: str
) -> None:
    shown = tuple(
        statement(number, text, source=source if type_ == "observation" else None, type=type_)
        for number, (text, source, type_) in enumerate(given_, start=1)
    )
    for asked in [question, *await ask(shown)]:
        for insight in await infer(asked, shown):
            assert len(set(insight.evidence)) >= 2
            evidence = cited(insight, shown)
            again = await reconsider(insight.text, renumbered(evidence), asked)
            assert again.verdict in {"confirmed", "revised", "retracted"}


_SCRIPT = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from language.stories import HARBOUR, story, talk
from language.test_extractive import reflect
for shown in (story(*HARBOUR), talk()):
    for question, insight in asyncio.run(reflect(shown)):
        print(question, insight.text, insight.evidence)
"""


def test_two_processes_with_other_hash_seeds_write_the_same() -> None:
    tests = str(__import__("pathlib").Path(__file__).parents[1])
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _SCRIPT, tests],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    ]
    assert outputs[0]
    assert all(first == second for first, second in pairwise(outputs))


async def test_a_hundred_memories_take_well_under_a_second() -> None:
    import time

    shown: list[Any] = [
        statement(number, HARBOUR[number % len(HARBOUR)] + f" Entry {number}.") for number in range(1, 101)
    ]
    started = time.perf_counter()
    await reflect(shown)
    assert time.perf_counter() - started < 2
