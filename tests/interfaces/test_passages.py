"""Cutting a text: sentences, lines, and where they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphmem.interfaces.passages import LONGEST, Passage, passages


def test_sentences_across_wrapped_lines_and_their_lines() -> None:
    text = (
        "The harbour was quiet when Mr. Brandt came down to the quay, and the\n"
        "ferry had not come. He waited. Nobody told him that the key of the boathouse\n"
        'hangs behind the clock. "Why?" he asked.\n\nLater it rained.\n'
    )
    assert passages(text) == [
        Passage("The harbour was quiet when Mr. Brandt came down to the quay, and the ferry had not come.", 1, 2),
        Passage("He waited.", 2, 2),
        Passage("Nobody told him that the key of the boathouse hangs behind the clock.", 2, 3),
        Passage('"Why?"', 3, 3),
        Passage("he asked.", 3, 3),
        Passage("Later it rained.", 5, 5),
    ]


def test_lists_dates_and_speakers_are_lines_of_their_own() -> None:
    text = (
        "Shopping\n- milk\n- bread\n"
        "2026-06-01 Called Ana about the boat and the long list of things that are to be done\n"
        "Sam: did you sell the car\nEvan: not yet"
    )
    assert [passage.text for passage in passages(text)] == text.splitlines()
    assert [passage.first for passage in passages(text)] == [1, 2, 3, 4, 5, 6]


def test_nothing_and_what_has_no_end() -> None:
    assert passages(" \n\t\n") == []
    pieces = passages("x" * (2 * LONGEST + 5))
    assert [len(piece.text) for piece in pieces] == [LONGEST, LONGEST, 5]


@given(st.text())
def test_every_word_is_in_one_passage_of_its_lines(text: str) -> None:
    found = passages(text)
    assert "".join("".join(passage.text.split()) for passage in found) == "".join(text.split())
    lines = text.splitlines()
    for passage in found:
        assert 1 <= passage.first <= passage.last <= len(lines)
        inside = "".join("".join(lines[passage.first - 1 : passage.last]).split())
        assert "".join(passage.text.split()) in inside
    firsts = [passage.first for passage in found]
    assert firsts == sorted(firsts)
