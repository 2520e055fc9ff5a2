"""Text for the terminal: nothing stored may steer it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.views.text import one_line, printable, short_ids, shortened

CONTROLS = {chr(code) for code in [*range(0x00, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F)]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\r\nand\ttabs", "two lines and tabs"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;new title\x07text", "]0;new titletext"),
        ("\x9b2Jgone", "2Jgone"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("over\bwritten\x7f", "overwritten"),
        ("\ufeffmark", "mark"),
        ("half \ud83e emoji", "half  emoji"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        ("北の灯台 שלום", "北の灯台 שלום"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    assert not CONTROLS & set(one_line(text))
    assert CONTROLS & set(printable(text)) <= {"\n", "\t"}
    one_line(text).encode()  # what is left can be written as UTF-8


@given(st.text(), st.integers(1, 40))
def test_shortened_is_never_longer(text: str, length: int) -> None:
    assert len(shortened(text, length)) <= length


def test_shortened_says_that_it_is() -> None:
    assert shortened("a long enough text", 8) == "a long…"
    assert shortened("short", 5) == "short"
    assert shortened(" " * 100_000 + "end", 20) == "…"


def test_shortened_keeps_what_belongs_together() -> None:
    family = "👨‍👩‍👧"
    assert shortened(f"abc {family}!!!", 7) == "abc…"
    assert shortened("cafe\u0301 au lait", 5) == "caf…"


def test_short_ids_are_unique_beginnings() -> None:
    ids = ["D1:1", "D1:12", "0197aaaa-bbbb-cccc-1", "0197aaaa-bbbb-cccc-2", "ffffffff-0000-0000"]
    short = short_ids(ids)
    assert short["D1:1"] == "D1:1"
    assert short["ffffffff-0000-0000"] == "ffffffff-0000-"
    assert len(set(short.values())) == len(ids)
    assert short["0197aaaa-bbbb-cccc-1"] == "0197aaaa-bbbb-cccc-1"


def test_an_id_that_begins_another_is_shown_whole() -> None:
    short = short_ids(["0123456789abcdef", "0123456789abcdefff"])
    assert short["0123456789abcdef"] == "0123456789abcdef"
    assert short["0123456789abcdefff"] == "0123456789abcdeff"


@given(st.sets(st.text(st.characters(min_codepoint=48, max_codepoint=52), min_size=1, max_size=24)))
def test_short_ids_stay_apart(ids: set[str]) -> None:
    short = short_ids(ids)
    for full in ids:
        matches = [other for other in ids if other.startswith(short[full])]
        assert matches == [full] or short[full] == full
