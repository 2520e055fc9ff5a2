"""Importance by rule: the anchors of the paper, and a scale that is used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.language.rating import rate

from .stories import HARBOUR, TALK


@pytest.mark.parametrize(
    ("text", "lowest", "highest"),
    [
        ("Brushing teeth", 1, 1),
        ("Klara brushed her teeth.", 1, 1),
        ("making the bed", 1, 1),
        ("The stove is idle", 1, 1),
        ("Hey! How are you?", 1, 2),
        ("Thanks, take care!", 1, 2),
        ("cleaning up the room", 1, 3),
        ("I cleaned my room", 1, 3),
        ("buying groceries at the store", 1, 3),
        ("Jonas swept the floor and closed the window.", 1, 4),
        ("asking your crush out on a date", 7, 9),
        ("Jonas asked his crush out", 7, 9),
        ("a break-up", 8, 10),
        ("My girlfriend broke up with me", 8, 10),
        ("a college acceptance", 8, 10),
        ("I got accepted by the college I dreamed of!", 8, 10),
        ("Our grandmother died in her sleep.", 9, 10),
        ("My sister gave birth to twins", 9, 10),
        ("I lost my job last month", 8, 10),
        ("We got engaged on the pier", 8, 10),
        ("I passed the final exam", 7, 10),
    ],
)
def test_the_anchors_of_the_paper_hold(text: str, lowest: int, highest: int) -> None:
    assert lowest <= rate(text) <= highest


@pytest.mark.parametrize(
    "text",
    [
        "We nearly died laughing at the puppet show",
        "The pump broke the calm of the night, killing time until dawn",
        "Lio catches the oar too deep on every tenth stroke",
        "I would kill it on that stage",
        "I lost track of the score",
    ],
)
def test_turns_of_phrase_are_no_tragedies(text: str) -> None:
    assert rate(text) <= 6


def test_asking_about_something_is_less_than_living_it() -> None:
    assert rate("Did you lose your job?") < rate("I lost my job.")
    assert rate("Congrats on getting married, you two!") < rate("I got married!")


def test_particulars_count_a_little() -> None:
    assert rate("It rained.") <= rate("Klara met Jonas at the Lund bakery at 07:40 to order twelve rye loaves.")


def test_the_scale_is_used_and_most_of_a_day_is_ordinary() -> None:
    ratings = [rate(text) for text in HARBOUR] + [rate(text) for _, text in TALK]
    assert len(set(ratings)) >= 4
    assert sum(2 <= rating <= 5 for rating in ratings) >= len(ratings) / 2


@given(st.text())
def test_any_text_has_a_rating_and_always_the_same(text: str) -> None:
    assert 1 <= rate(text) <= 10
    assert rate(text) == rate(text)
