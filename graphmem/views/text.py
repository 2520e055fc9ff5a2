"""Stored text made fit for one line of a terminal.

A memory's text comes from outside: it may hold terminal escapes, invisible direction marks and line breaks,
none of which may change what a person sees around it. What is stored is never changed, only what is shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise

# C0 and C1 controls (all terminal escapes begin with one), direction overrides and isolates, the byte order
# mark, lone surrogates. Joiners (U+200C, U+200D) stay: emoji and several scripts need them.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_HIDDEN = re.compile(f"[{_CONTROLS}]")
_JOINER = "\u200d"
_SHORT_ID = 14
"""Fewest characters to which an id is shortened; generated ids begin with 12 digits of time."""
_WHOLE_ID = 16
"""Ids up to this length are shown whole."""


def one_line(text: str) -> str:
    """The text on one line: runs of white space become one space, control characters are left out."""
    return _HIDDEN.sub("", " ".join(text.split()))


def printable(text: str) -> str:
    """The text with its line breaks and tabs, without any other control character."""
    return _HIDDEN.sub("", "\n".join(text.splitlines()))


def shortened(text: str, length: int) -> str:
    """The text on one line, at most ``length`` characters, never cut within a joined emoji or an accent.

    Args:
        text: Any text.
        length: At least 1; the ellipsis counts.
    """
    # A line needs a bounded part of the text only, and texts reach 100,000 characters.
    part = text[: 8 * length + 1024]
    line = one_line(part)
    if len(line) <= length and len(part) == len(text):
        return line
    end = min(len(line), length - 1)
    while 0 < end < len(line) and _joined(line, end):
        end -= 1
    return line[:end].rstrip() + "…"


def _joined(line: str, position: int) -> bool:
    """Whether cutting before ``position`` would take a character apart."""
    after = line[position]
    return (
        after == _JOINER
        or line[position - 1] == _JOINER
        or unicodedata.combining(after) != 0
        or "\ufe00" <= after <= "\ufe0f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Each id with its shortest beginning, of at least 14 characters, that no other of these ids shares.

    Ids of up to 16 characters are kept whole. What is shown can be typed: ``agent.resolve`` takes beginnings.
    """
    ordered = sorted(set(ids))
    shared = [_common(a, b) for a, b in pairwise(ordered)]
    short: dict[str, str] = {}
    for position, full in enumerate(ordered):
        before = shared[position - 1] if position else 0
        after = shared[position] if position < len(shared) else 0
        length = len(full) if len(full) <= _WHOLE_ID else max(_SHORT_ID, before + 1, after + 1)
        short[full] = one_line(full[:length])
    return short


def _common(a: str, b: str) -> int:
    """How many characters two strings begin with in common."""
    for position, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return position
    return min(len(a), len(b))


def moment(time: datetime) -> str:
    """A time to the minute, in UTC: ``2023-05-18 13:47``."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 memory``, ``2,000 memories``; the plural ends in s unless it is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
