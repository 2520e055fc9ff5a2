"""The support gate: what cannot follow from the cited memories is refused, what can is scored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.language.base import Statement
from graphmem.language.gates import support
from graphmem.models import Refused

from .stories import statement, story

GATE = story(
    "The east gate is locked at night.",
    "The ferry leaves at 07:40 from the north pier.",
    "Klara Berg paid 120 crowns for blue paint in Oslo.",
    "Jonas has two sisters and does not eat fish.",
)
TALK = (
    statement(1, "Hey Sam! I drive my old Volvo to the lake every Friday.", source="Evan"),
    statement(2, "I'm not a fan of hiking, Evan, my knee hurts.", source="Sam"),
    statement(3, "Running clears my head, I ran nine miles yesterday.", source="Evan"),
)


def scores(text: str, evidence: tuple[Statement, ...]) -> dict[int, float]:
    result = support(text, evidence)
    assert isinstance(result, dict), result
    return result


def reason(text: str, evidence: tuple[Statement, ...]) -> str:
    result = support(text, evidence)
    assert isinstance(result, Refused), result
    assert result.gate == "support"
    return result.reason


@pytest.mark.parametrize(
    "text",
    [
        "At night the east gate stays locked, and the ferry goes at 07:40.",
        "Klara Berg bought blue paint in Oslo for 120 crowns.",
        "Klara spends money on paint.",
        "Jonas avoids fish and has 2 sisters.",
        "Jonas does not eat fish.",
        "The town keeps early hours: the ferry leaves at 07:40.",
        "Painting matters to Klara.",
    ],
)
def test_what_follows_is_kept(text: str) -> None:
    assert max(scores(text, GATE).values()) > 0


@pytest.mark.parametrize(
    "text",
    [
        "Evan drives a Volvo.",
        "Evan likes running and going to the lake.",
        "Sam does not like hiking.",
        "Sam's knee keeps him from hiking.",
        "Evan ran 9 miles.",
        "Evan and Sam talk about sport.",
    ],
)
def test_what_speakers_say_counts_as_theirs(text: str) -> None:
    scores(text, TALK)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Marta Berg bought blue paint in Oslo.", "Marta"),
        ("Klara Berg bought blue paint in Bergen.", "Bergen"),
        ("Klara’s cousin Nils sells paint.", "Nils"),
        ("Jonas eats no fish, and Henrik neither.", "Henrik"),
    ],
)
def test_a_name_that_no_cited_memory_holds_is_refused(text: str, named: str) -> None:
    assert named in reason(text, GATE)


def test_who_is_only_spoken_to_did_not_do_it() -> None:
    assert "spoken to" in reason("Sam drives an old Volvo.", TALK[:1])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The ferry leaves at 07:50.", "07:50"),
        ("Klara paid 210 crowns for paint.", "210"),
        ("Jonas has three sisters.", "three"),
        ("Jonas has 12 sisters.", "12"),
        ("Klara paid for paint on 3 March.", "3"),
        ("Klara paid for paint in August.", "August"),
        ("Klara paid for paint on a Tuesday.", "Tuesday"),
    ],
)
def test_a_number_or_date_that_no_cited_memory_holds_is_refused(text: str, named: str) -> None:
    assert named in reason(text, GATE)


@pytest.mark.parametrize(
    "text", ["Klara paid 120 crowns on 12 June 2026.", "On Friday Klara paid for paint.", "Klara paints in June."]
)
def test_when_a_cited_memory_happened_may_be_said(text: str) -> None:
    scores(text, GATE)


def test_how_many_memories_there_are_may_be_said_but_not_more() -> None:
    scores("Klara is named in three memories about paint.", GATE)
    assert "nine" in reason("Klara is named in nine memories about paint.", GATE)


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("The east gate is not locked at night.", GATE),
        ("The east gate is never locked at night.", GATE),
        ("The east gate isn't locked at night.", GATE),
        ("Jonas eats fish.", GATE),
        ("Sam is a fan of hiking.", TALK),
        ("The east gate is no longer locked.", GATE),
    ],
)
def test_b23_a_negation_that_flips_is_refused(text: str, evidence: tuple[Statement, ...]) -> None:
    assert "what memory" in reason(text, evidence)


def test_a_copy_of_one_memory_is_no_insight() -> None:
    assert "repeats memory 1" in reason("the east gate is locked at night", GATE)
    assert "repeats memory 3" in reason("Evan: running clears my head, I ran nine miles yesterday", TALK)


def test_a_plan_is_not_told_as_done() -> None:
    plans = (
        statement(1, "Attend the harbour concert", type="plan"),
        statement(2, "Meet Jonas at the concert", type="plan"),
    )
    assert "only plan" in reason("Jonas attended the concert.", plans)
    scores("Jonas is to be met at the concert, as planned.", plans)


def test_a_text_without_a_common_word_is_refused() -> None:
    assert "no word" in reason("bananas grow in warm countries", GATE)


def test_scores_tell_which_memory_bears_the_text_most() -> None:
    found = scores("The ferry leaves from the north pier.", GATE)
    assert max(found, key=lambda number: found[number]) == 2
    assert all(0 <= score <= 1 for score in found.values())
    assert set(found) == {1, 2, 3, 4}


@pytest.mark.parametrize(
    "text", ["昨日は雨が降りました", "Вчера шёл дождь", "أمطرت السماء أمس", "👍🏽🎉", "1", "“”", "…", "\n", "A"]
)
def test_other_scripts_do_not_break_it(text: str) -> None:
    support(text, story("昨日は雨が降りました。", "Вчера весь день шёл дождь", "👍🏽"))


@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_it_never_fails_on_any_text(text: str, others: list[str]) -> None:
    result = support(text, story(*others))
    assert isinstance(result, Refused) or set(result) == set(range(1, len(others) + 1))
