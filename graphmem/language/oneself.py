"""Oneself: what an agent is told to be, which is no memory, and the questions that ask for it."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

from graphmem.language import words
from graphmem.language.base import Statement
from graphmem.language.occupation import occupation
from graphmem.language.prompts import quote
from graphmem.language.whens import day_in

OWN = 0
"""The number under which a sentence cites what the agent is told to be; memories are numbered from 1."""

Aspect = Literal["who", "work", "home", "age"]


class Oneself(BaseModel):
    """Who an agent is, as it was configured and settled."""

    model_config = ConfigDict(frozen=True)

    name: str
    """Its name, else its id."""
    traits: str | None = None
    home: str | None = None
    """A place as it is stored: ``world:sector:arena``."""
    at: datetime
    """The moment of which this is told."""
    time_zone: str = "UTC"
    """Of its clock."""

    @property
    def place(self) -> str | None:
        """Its home in words, the nearest part first."""
        return ", ".join(reversed(self.home.split(":"))) if self.home else None

    def as_data(self) -> str:
        """What a prompt shows of it."""
        shown = {"number": OWN, "name": self.name, "description": self.traits, "home": self.place}
        return quote({key: value for key, value in shown.items() if value is not None})

    def statement(self, at: datetime | None = None, *, name_only: bool = False) -> Statement:
        """What the support gate reads; the name alone says nothing and needs no citation.

        Args:
            at: When it is told, which may date what is said; None: the moment of which it is told.
            name_only: Only the name.
        """
        parts = [f"I am {self.name}"]
        if not name_only:
            parts += [self.traits] if self.traits else []
            parts += [f"my home is {self.place}"] if self.home else []
        return Statement(number=OWN, text=". ".join(parts), kind="fact", type="observation", occurred_at=at or self.at)


_END = r"(?=\s*(?:[?.!,;:]|$|(?:and|or)\b))"
_QUESTIONS: tuple[tuple[Aspect, str], ...] = (
    (
        "who",
        r"who (?:exactly )?are you(?: exactly| really)?|what(?: is|['’]s) your (?:full )?name|what are you called|"
        r"(?:introduce|describe) yourself(?: to me)?|about (?:you|yourself)|what are you like|"
        r"what (?:kind|sort) of person are you",
    ),
    (
        "work",
        r"what do you do(?: for (?:a|your) living| for work| professionally| as a job)?|what do you work as|"
        r"what(?: is|['’]s) your (?:job|work|trade|profession|occupation|craft|business|line of work)|"
        r"how do you (?:earn|make) (?:a|your) living|what (?:work|job) do you (?:do|have)|where do you work",
    ),
    (
        "home",
        r"where do you (?:currently |now )?(?:live|dwell|reside)|where(?: is|['’]s) your (?:home|house)|"
        r"what(?: is|['’]s) your (?:home|address)|(?:in )?(?:which|what) \w+ do you live(?: in)?",
    ),
    ("age", r"how old are you|what(?: is|['’]s) your age"),
)
_ASKS: dict[Aspect, re.Pattern[str]] = {
    aspect: re.compile(rf"\b(?:{pattern}){_END}", re.IGNORECASE) for aspect, pattern in _QUESTIONS
}


def asked_of(question: str, name: str) -> frozenset[Aspect]:
    """What a question asks of the agent itself, as ``you`` or by its name; nothing where it asks something else."""
    addressed = _addressed(question, name)
    return frozenset(aspect for aspect, pattern in _ASKS.items() if pattern.search(addressed))


def _addressed(question: str, name: str) -> str:
    """A question with ``you`` in the place of the agent's name."""
    parts = [re.escape(part) for part in dict.fromkeys([name, *name.split()[:1]])]
    addressed = re.sub(rf"\b(?:{'|'.join(parts)})['’]s\b", "your", question, flags=re.IGNORECASE)
    addressed = re.sub(rf"\b(?:{'|'.join(parts)})\b", "you", addressed, flags=re.IGNORECASE)
    if addressed != question:
        addressed = re.sub(
            r"\bdoes you\b", "do you", re.sub(r"\bis you\b", "are you", addressed, flags=re.I), flags=re.I
        )
    return addressed


class Doings(BaseModel):
    """That a question asks what the agent did, or is going to do, on a day."""

    model_config = ConfigDict(frozen=True)

    day: date
    past: bool
    """What it did, rather than what it is going to do."""


_DOINGS = re.compile(
    r"\bwhat\b(?:.{0,20}?\b(?:you|your)\b)?.{0,20}?\b(?:do|did|doing|done|plan|plans|planned|planning|up\s+to|schedule)\b|"
    r"\bhow\s+(?:was|is|did\s+you\s+spend|will\s+you\s+spend|do\s+you\s+spend)\b",
    re.IGNORECASE,
)
_OF_SELF = re.compile(r"\byour?\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|done|was|were|have\s+you|had|yesterday|last)\b", re.IGNORECASE)
_YESTERDAY = re.compile(r"\byesterday\b", re.IGNORECASE)
_YOUR_DAY = re.compile(r"\byour\s+day\b", re.IGNORECASE)
_ELSE = re.compile(
    r"\b(?:about|with|for\s+(?!today|tomorrow|tonight|the\s+day)|when|if|because|think|know|tell|say|hear)\b", re.I
)
"""What narrows the question to some matter: then what memory holds of that matter is the answer."""


def doings_asked(question: str, name: str, today: date) -> Doings | None:
    """The day of which a question asks what the agent did or is going to do; None: it asks something else.

    Args:
        question: What is asked.
        name: The agent's; it stands for ``you``.
        today: The day of the question, by the agent's clock.
    """
    addressed = _addressed(question, name)
    if not (_DOINGS.search(addressed) and _OF_SELF.search(addressed)) or _ELSE.search(addressed):
        return None
    past = _PAST.search(addressed) is not None
    if _YESTERDAY.search(addressed):
        return Doings(day=today - timedelta(days=1), past=True)
    day = day_in(re.sub(r"\blast\s+(?=\w+day\b)", "on ", addressed, flags=re.IGNORECASE), today)
    if day is None:
        return Doings(day=today, past=past) if _YOUR_DAY.search(addressed) else None
    if past and day > today and not _YEAR.search(addressed):  # The day was read as the next one of its name.
        day = day - timedelta(days=7) if day - today <= timedelta(days=7) else _year_before(day)
    # Nobody plans further, and calendars end.
    return Doings(day=day, past=past) if day is not None and abs(day - today) <= _FARTHEST else None


_YEAR = re.compile(r"\b\d{4}\b")
_FARTHEST = timedelta(days=3660)


def _year_before(day: date) -> date | None:
    try:
        return day.replace(year=day.year - 1)
    except ValueError:  # A year without a 29th of February.
        return None


_LIVES = re.compile(r"\blive[sd]?\s+(?:in|at|on|near|with|by|above|under|over|next)\b", re.IGNORECASE)
_AGE = re.compile(
    r"\bage[d:]?\s*\d{1,3}\b|\b\d{1,3}\s+years?\s+old\b|(?:^|,\s*)\d{1,3}(?=\s*(?:[,.;]|$))", re.IGNORECASE
)


def told_of(oneself: Oneself, asked: frozenset[Aspect]) -> list[str]:
    """What the agent's description says to that, in the first person; nothing where it does not say."""
    sentences = words.sentences(oneself.traits or "")
    if "who" in asked:
        said = [f"I am {oneself.name}: {' '.join((oneself.traits or '').split())}".rstrip(": ")]
    else:
        found = [
            sentence
            for sentence in sentences
            if ("work" in asked and occupation(sentence, oneself.name) is not None)
            or ("age" in asked and _AGE.search(sentence))
            or ("home" in asked and oneself.home is None and _LIVES.search(sentence))
        ]
        said = [f"I am {oneself.name}: {' '.join(' '.join(found).split())}"] if found else []
    if "home" in asked and oneself.place is not None:
        said.append(f"My home is {oneself.place}.")
    return said


def is_of(statement: Statement, name: str) -> bool:
    """Whether a memory may tell of its owner: in its own words or those of nobody, as I or by name."""
    if statement.source is not None and statement.source.casefold() != name.casefold():
        return False
    folded = {word.fold for sentence in words.sentences(statement.text) for word in words.words(sentence)}
    own = {word.fold for word in words.words(name)[:1]}
    return bool(folded & (words.FIRST_PERSON | own))
