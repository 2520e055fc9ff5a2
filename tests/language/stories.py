"""What the tests of the language boundary share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from graphmem.language.base import Statement

START = datetime(2026, 6, 12, 8, 0, tzinfo=UTC)


def statement(
    number: int, text: str, *, source: str | None = None, type: str = "observation", **given: object
) -> Statement:
    """A statement; each number is an hour later than the one before unless a time is given."""
    fields: dict[str, object] = {
        "number": number,
        "text": text,
        "type": type,
        "kind": {"observation": "utterance" if source else "event", "reflection": "insight", "plan": "day"}[type],
        "occurred_at": START + timedelta(hours=number),
        "source": source,
    }
    return Statement.model_validate(fields | given)


def story(*texts: str, source: str | None = None, first: int = 1) -> tuple[Statement, ...]:
    """Statements numbered from ``first``."""
    return tuple(statement(number, text, source=source) for number, text in enumerate(texts, start=first))


def renumbered(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The same statements, numbered from 1."""
    return tuple(s.model_copy(update={"number": number}) for number, s in enumerate(statements, start=1))


HARBOUR = (
    "Klara Berg sketched the harbour mural on the long wall by the fish market.",
    "Klara Berg mixed blue paint for the harbour mural before breakfast.",
    "Jonas brought fresh bread to the bakery counter.",
    "The rain washed half of the harbour mural away in the night.",
    "Jonas burned the second batch of bread and opened the bakery an hour late.",
    "Klara Berg painted the gulls of the harbour mural a second time.",
    "Mrs Lund counted the coins in the bakery till twice.",
    "The ferry came in with nobody aboard.",
    "Jonas sold the last bread of the bakery to a sailor.",
)
"""An own story with two topics that several people share."""

TALK = (
    ("Mira", "Hey Tom! I finally signed up for the pottery class at the mill, so excited!"),
    ("Tom", "Wow, that's great, Mira! How was the first evening?"),
    ("Mira", "Thanks! The pottery class was fun, but my first bowl fell apart on the wheel."),
    ("Tom", "Sorry about the bowl. You'll get there! My knee is giving me trouble again, by the way."),
    ("Mira", "Oh no, did you see a doctor about the knee?"),
    ("Tom", "Yes, the doctor says my knee needs rest, so no football for a month."),
    ("Mira", "I made a second bowl in pottery class yesterday and it survived the kiln!"),
    ("Tom", "Congrats! I miss football, but the knee is slowly getting better."),
)
"""An own conversation: one topic of each speaker, amid chatter."""


def talk() -> tuple[Statement, ...]:
    """The conversation as statements."""
    return tuple(
        statement(number, text, source=source, occurred_at=START + timedelta(days=3 * number))
        for number, (source, text) in enumerate(TALK, start=1)
    )
