"""The shape and index gates, importance in any form, and the two rules on texts."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import ReplyRefused
from graphmem.language.gates import (
    Indexed,
    index,
    normalise_text,
    parse_importance,
    rated,
    read,
    refusal,
    shape,
    shorten,
)
from graphmem.language.prompts import Insight, Insights, Questions, Rating, Ratings, Reconsidered
from graphmem.models import Refused

# --- shape -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"insights": [{"insight": {"text": "Tam naps at noon"}}]}, "insights.0.text: the field is missing"),
        ({"insights": [{"text": "Tam naps at noon"}]}, "insights.0.evidence: the field is missing"),
        ({"insights": [{"text": {"en": "Tam naps"}, "evidence": [1]}]}, "insights.0.text"),
        ({"insights": [{"text": "Tam naps", "evidence": {"a": 1}}]}, "insights.0.evidence"),
        ({"insights": [{"text": "Tam naps", "evidence": [True]}]}, "insights.0.evidence"),
        ({"insights": [[1, 2]]}, "insights.0: is a list"),
        ({"insights": "Tam naps"}, "insights: is a text, not a list"),
        ({"insights": None}, "insights: is null, not a list"),
        ({"thoughts": []}, "insights: the field is missing"),
        (None, "got null"),
        (7, "got a number"),
        (True, "got true or false"),
        ("Tam naps", "got a text"),
        (Insights.model_json_schema(), "schema"),
        ({"type": "object", "properties": {"insights": {"type": "array"}}}, "schema"),
        ([1, 2, 3], "insights.0"),
    ],
)
def test_b03_wrong_shapes_are_refused_with_the_field_named(value: Any, named: str) -> None:
    with pytest.raises(ReplyRefused) as refused:
        shape(value, Insights)
    assert refused.value.gate == "shape"
    assert named in str(refused.value)


def test_b03_a_bare_list_and_a_single_insight_are_read() -> None:
    item = {"text": "Tam naps at noon", "evidence": [1]}
    assert shape([item], Insights).value == shape(item, Insights).value == Insights.model_validate({"insights": [item]})


def test_b03_a_refused_item_takes_nothing_else_with_it() -> None:
    shaped = shape(
        {"insights": [{"text": "Tam naps", "evidence": [1]}, None, {"text": "…", "evidence": [1]}]}, Insights
    )
    assert len(shaped.value.insights) == 1
    assert [(refused.gate, refused.reason.split(":")[0]) for refused in shaped.refused] == [
        ("shape", "insights.1"),
        ("shape", "insights.2.text"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "...",
        "…",
        "string",
        "<insight>",
        "N/A",
        "insight 1",
        "Your insight here",
        "this is blank",
        "node_1",
        "[text]",
    ],
)
def test_placeholders_are_refused(text: str) -> None:
    with pytest.raises(ReplyRefused, match=r"insights\.0\.text"):
        shape([{"text": text, "evidence": [1]}], Insights)


def test_an_insight_as_long_as_a_book_is_refused() -> None:
    with pytest.raises(ReplyRefused, match="2000 characters"):
        shape([{"text": "so " * 1_000, "evidence": [1]}], Insights)


def test_repeated_items_count_once() -> None:
    shaped = shape({"questions": ["What does Orla do?", "what does  Orla do", "Why?"]}, Questions)
    assert shaped.value.questions == ["What does Orla do?", "Why?"]
    assert "repeats" in shaped.refused[0].reason


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ({"verdict": "maybe"}, "verdict"),
        ({"verdict": "revised", "text": "", "evidence": [1]}, "text is empty"),
        ({"verdict": "confirmed", "text": "Orla naps", "evidence": []}, "evidence is empty"),
        ({"text": "Orla naps"}, "verdict: the field is missing"),
        ([], "Reconsidered"),
    ],
)
def test_a_verdict_must_be_complete(reply: Any, named: str) -> None:
    with pytest.raises(ReplyRefused, match=named):
        shape(reply, Reconsidered)


def test_a_retraction_needs_no_text() -> None:
    assert shape({"verdict": "retracted", "reason": "gone"}, Reconsidered).value.reason == "gone"


def test_a_refusal_keeps_what_was_written_shortened() -> None:
    raw = "no answer " * 1_000
    try:
        read(raw, Insights)
    except ReplyRefused as error:
        kept = refusal(error, raw)
    else:
        pytest.fail("the reply was accepted")
    assert kept.gate == "parse"
    assert kept.item.startswith("no answer no answer")
    assert len(kept.item) == 2_000


# --- index -----------------------------------------------------------------------------------------------------


def insight(text: str, *evidence: int) -> Insight:
    return Insight(text=text, evidence=list(evidence))


def test_b05_a_number_that_was_not_shown_is_dropped_and_noted_with_the_valid_range() -> None:
    kept = index(insight("Orla is tired", 2, 12), range(1, 6))
    assert isinstance(kept, Indexed)
    assert kept.evidence == (2,)
    assert kept.dropped == (12,)
    assert "12" in kept.notes[0].reason
    assert "1–5" in kept.notes[0].reason


@pytest.mark.parametrize("evidence", [(9,), (0, -1), ()])
def test_b05_an_insight_left_without_any_citation_is_refused(evidence: tuple[int, ...]) -> None:
    refused = index(insight("Orla is tired", *evidence), range(1, 6))
    assert isinstance(refused, Refused)
    assert refused.gate == "index"


def test_b06_numbers_start_at_one_in_the_reply_as_in_the_prompt() -> None:
    for number in (1, 3):
        kept = index(insight("Orla is tired", number), [1, 2, 3])
        assert isinstance(kept, Indexed)
        assert kept.evidence == (number,)
    assert isinstance(index(insight("Orla is tired", 0), [1, 2, 3]), Refused)


def test_b43_citations_count_once_and_leave_the_text() -> None:
    (read_insight,) = read("Pim is tired (because of 3, 3, 1, 8)", Insights).value.insights
    kept = index(read_insight, range(1, 5))
    assert isinstance(kept, Indexed)
    assert kept.text == "Pim is tired"
    assert kept.evidence == (3, 1)
    assert kept.dropped == (8,)


def test_b43_where_text_and_field_disagree_the_field_counts_and_it_is_noted() -> None:
    kept = index(insight("Pim is tired (because of 3).", 2), range(1, 5))
    assert isinstance(kept, Indexed)
    assert kept.text == "Pim is tired."
    assert kept.evidence == (2,)
    assert "the field counts" in kept.notes[0].reason


def test_b43_where_text_and_field_agree_nothing_is_noted() -> None:
    kept = index(insight("Pim is tired (because of 2)", 2), range(1, 5))
    assert isinstance(kept, Indexed)
    assert kept.notes == ()


def test_b43_citations_only_in_the_text_of_a_json_reply_are_read() -> None:
    (read_insight,) = read('[{"text": "Pim is tired (because of 1 and 2)"}]', Insights).value.insights
    assert (read_insight.text, read_insight.evidence) == ("Pim is tired", [1, 2])


def test_only_numbers_that_were_shown_count_even_with_gaps() -> None:
    refused = index(insight("Pim is tired", 3), [1, 2, 7])
    assert isinstance(refused, Refused)
    assert "1–2, 7" in refused.reason


@given(st.lists(st.integers(min_value=-5, max_value=20)), st.sets(st.integers(min_value=1, max_value=10)))
def test_no_citation_leads_nowhere(evidence: list[int], shown: set[int]) -> None:
    kept = index(insight("Pim is tired", *evidence), shown)
    if isinstance(kept, Indexed):
        assert kept.evidence
        assert set(kept.evidence) <= shown
        assert len(set(kept.evidence)) == len(kept.evidence)
    else:
        assert not set(evidence) & shown


# --- importance ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "rating"),
    [
        ("8", 8),
        ("8/10", 8),
        ("8 out of 10", 8),
        ("Rating: 7", 7),
        ("**9**", 9),
        ("10", 10),
        ("10.0", 10),
        ("10/10", 10),
        ("7.5", 8),  # halves are rounded up
        ("7,5", 8),
        ("2.5", 3),
        ("seven", 7),
        ("Seven.", 7),
        ('{"importance":"6"}', 6),
        ('```json\n{"rating": 6}\n```', 6),
        ("7\n\nBecause there are 3 reasons", 7),
        ("7 because there are 3 reasons", 7),
        ("On a scale of 1 to 10, I would say 4.", 4),
        ("I'd give this an importance of 9 (on a scale from 1-10)", 9),
        ("The rating is 3", 3),
        ("９", 9),
        (6, 6),
        (6.5, 7),
        ({"importance": 5}, 5),
    ],
)
def test_b07_every_form_of_a_rating_is_read(raw: object, rating: int) -> None:
    assert parse_importance(raw) == rating


@pytest.mark.parametrize(
    "raw",
    [
        "0", "11", "-3", "−3", "0.5", "10.4", "N/A", "", "  \n", "I can't rate this", "7-8", "between 6 and 7",
        "6 or 7", "70%", "80/100", "1000000000000", "8, 9", "{", '{"importance": "high"}', "ten thousand",
        "Rating: 7 or 8", "¯\\_(ツ)_/¯", None, True, float("nan"), float("inf"), 1e308, [], {}, {"importance": {}},
        {"importance": {"value": 6}},
    ],
)  # fmt: skip
def test_b07_what_is_no_rating_is_refused_and_never_guessed(raw: object) -> None:
    refused = parse_importance(raw)
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("importance:")


@given(st.one_of(st.text(), st.integers(), st.floats(), st.recursive(st.none(), st.lists)))
def test_b07_a_rating_is_an_integer_from_1_to_10_or_refused(raw: object) -> None:
    rating = parse_importance(raw)
    assert isinstance(rating, Refused) or (type(rating) is int and 1 <= rating <= 10)


def test_b07_ratings_are_matched_by_number_in_any_form() -> None:
    reply = [{"number": 2, "importance": "8/10"}, {"number": 1, "importance": 3}, {"number": 3, "importance": "high"}]
    shaped = read(json.dumps(reply), Ratings)
    assert rated(shaped.value.ratings, 3).importance == {2: 8, 1: 3}
    assert "ratings.2.importance" in shaped.refused[0].reason


def test_b07_ratings_of_what_was_not_shown_and_contradictory_ones_are_refused() -> None:
    ratings = [Rating(number=n, importance=i) for n, i in [(0, 5), (1, 4), (1, 4), (2, 3), (2, 9), (4, 5)]]
    found = rated(ratings, 3)
    assert found.importance == {1: 4}
    assert [refused.gate for refused in found.refused] == ["index"] * 3


# --- texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Orla naps.", "orla  naps"),
        ("Orla naps!", "“Orla naps”"),
        ("Straße", "STRASSE"),
        ("It’s late", "It's late."),
        (unicodedata.normalize("NFD", "Café"), "café"),
    ],
)
def test_texts_that_differ_only_in_writing_are_equal(one: str, other: str) -> None:
    assert normalise_text(one) == normalise_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The east gate is locked at night", "The east gate is not locked at night"),
        ("Ferry leaves 07:40", "Ferry leaves 07:50"),
        ("Orla naps", "Orla naps?no"),
        ("resume", "résumé"),
    ],
)
def test_b23_texts_that_differ_by_a_word_or_digit_are_not(one: str, other: str) -> None:
    assert normalise_text(one) != normalise_text(other)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise_text(normalise_text(text)) == normalise_text(text)


FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize("sign", [FAMILY, "🇩🇪", "👍🏽", "e\u0301", "1️⃣", "क्षि"])
def test_b02_a_preview_never_cuts_a_sign_in_the_middle(sign: str) -> None:
    for before in range(20):
        text = "x" * before + sign + "y" * 30
        short = shorten(text, 20)
        assert len(short) <= 20
        assert short.removesuffix("…") in {
            text[:n] for n in (*range(before + 1), *range(before + len(sign), len(text)))
        }


@given(st.text(alphabet=st.characters(), max_size=60), st.integers(min_value=1, max_value=40))
def test_b02_previews_are_valid_text(text: str, limit: int) -> None:
    short = shorten(text + "\ud83e\x00", limit)
    assert len(short) <= limit
    short.encode("utf-8")
    assert "\x00" not in short
