"""What an agent does as a rule, as far as its memories say so: when it wakes and sleeps, and what it keeps doing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median
from zoneinfo import ZoneInfo

from graphmem.language import words
from graphmem.language.base import Statement
from graphmem.language.text import shorten
from graphmem.language.whens import DAY, HOUR, day_in, meal_in, place_in, span_in

WAKES, SLEEPS = 7 * HOUR, 22 * HOUR + 30
"""When an agent gets up and goes to bed of whom nothing else is known."""
_WAKE = re.compile(r"\b(?:wakes?|awakes?|gets?|rises?)\s*(?:up)?\s+(?:at|around|about)\b", re.IGNORECASE)
_BED = re.compile(r"\b(?:goes?\s+to\s+(?:bed|sleep)|sleeps?|to\s+bed)\s+(?:at|around|about)\b", re.IGNORECASE)
_ALWAYS = re.compile(
    r"\b(?:every|each)\s+(?:day|morning|noon|afternoon|evening|night|weekday)\b|\b(?:usually|always|daily)\b",
    re.IGNORECASE,
)
_WORKS = re.compile(r"\b(?:works?|working|open(?:s|ed)?|runs?|shift|duty|teach(?:es)?|on\s+duty)\b", re.IGNORECASE)
_NEAR = 90
"""Minutes by which what is done each day may be earlier or later."""
_ALIKE = 0.6
"""Share of common words from which on two things done are the same."""


@dataclass(frozen=True)
class Habit:
    """Something done at a time of day as a rule."""

    start: int
    end: int
    text: str
    place: str
    numbers: tuple[int, ...]
    """The memories that say so."""

    @property
    def work(self) -> bool:
        """Whether it is the agent's work."""
        return bool(_WORKS.search(self.text))


def minute_in(statement: Statement, zone: ZoneInfo) -> int:
    """The minute of the day at which it happened, where the agent is."""
    local = statement.occurred_at.astimezone(zone)
    return local.hour * HOUR + local.minute


def nights(statements: Sequence[Statement], traits: str | None, zone: ZoneInfo) -> tuple[int, int]:
    """When the agent gets up and goes to bed, in minutes of the day: as it is said, else as its days began, else usual.

    Returns:
        Getting up, from 4:00 to 11:00, and going to bed, from 20:00 to 24:00; both on a quarter of an hour.
    """
    wakes = sleeps = None
    for text in [traits or "", *(statement.text for statement in reversed(statements))]:
        for sentence in re.split(r"[.;,]|\band\b", text):
            span = span_in(sentence)
            if span is None:
                continue
            if wakes is None and _WAKE.search(sentence) and 4 * HOUR <= span[0] <= 11 * HOUR:
                wakes = span[0]
            if sleeps is None and _BED.search(sentence) and 20 * HOUR <= (span[0] or DAY) <= DAY:
                sleeps = span[0] or DAY
    return _rounded(wakes or _first_of_days(statements, zone) or WAKES), _rounded(sleeps or SLEEPS)


def _rounded(minute: float) -> int:
    return min(DAY, int(minute) // 15 * 15)


def _first_of_days(statements: Iterable[Statement], zone: ZoneInfo) -> float | None:
    """The usual minute of the first thing observed of a day, where there are several days with an early one."""
    firsts: dict[date, int] = {}
    for statement in statements:
        if statement.type != "observation" or statement.kind != "event":
            continue
        minute = minute_in(statement, zone)
        if minute >= 4 * HOUR:
            local = statement.occurred_at.astimezone(zone).date()
            firsts[local] = min(minute, firsts.get(local, DAY))
    early = [minute for minute in firsts.values() if minute <= 10 * HOUR]
    return median(early) if len(early) > 1 else None


def habits(statements: Sequence[Statement], zone: ZoneInfo, name: str, traits: str | None) -> list[Habit]:
    """What is done at the same time on most days: as a sentence says so, or as it was done on two days or more."""
    found = _said(statements, name, traits)
    for habit in _repeated(statements, zone, name):
        if not any(habit.start < other.end and other.start < habit.end for other in found):
            found.append(habit)
    return sorted(found, key=lambda habit: (habit.start, habit.numbers))


def _said(statements: Sequence[Statement], name: str, traits: str | None) -> list[Habit]:
    found: list[Habit] = []
    given = [(0, sentence) for sentence in words.sentences(traits or "")]
    for statement in statements:
        if statement.type == "observation" and (statement.source is None or statement.source == name):
            given += [(statement.number, sentence) for sentence in words.sentences(statement.text)]
    for number, sentence in given:
        span = span_in(sentence)
        if span is None or _WAKE.search(sentence) or _BED.search(sentence):
            continue
        # A day is named for something that is once.
        if day_in(sentence, date(2000, 1, 1)) is not None:
            continue
        usual = bool(_ALWAYS.search(sentence)) or bool(span[1] and _WORKS.search(sentence))
        first = words.words(sentence)[:1]
        if not usual or (first and first[0].capital and _another(sentence, name)):
            continue
        end = span[1] if span[1] is not None and span[1] > span[0] else span[0] + HOUR
        numbers = (number,) if number else ()
        found.append(Habit(span[0], min(end, DAY), _doing(sentence, name), place_in(sentence), numbers))
    return found


_NOBODY = words.listed("I We It There The My Usually Always Every Each Daily On")


def _another(sentence: str, name: str) -> bool:
    match = re.match(r"^\W*([A-Z][\w'’-]*)\s+(?:[A-Z][\w'’-]*\s+)?(?:\w+s|usually|always)\b", sentence)
    return match is not None and match[1] not in {*name.split(), *_NOBODY}


def _repeated(statements: Sequence[Statement], zone: ZoneInfo, name: str) -> list[Habit]:
    groups: dict[str, list[tuple[set[str], list[Statement]]]] = defaultdict(list)
    for statement in statements:
        if statement.type != "observation" or statement.kind != "event" or statement.source not in (None, name):
            continue
        kind = meal_in(statement.text) or ""
        if not kind and not _does(statement.text, name):
            continue
        keys = {word.fold for word in words.words(statement.text) if not words.is_stop(word.fold)}
        for known, members in groups[kind]:
            near = abs(minute_in(members[0], zone) - minute_in(statement, zone)) <= _NEAR
            if near and keys and (kind or len(keys & known) >= _ALIKE * len(keys | known)):
                members.append(statement)
                break
        else:
            groups[kind].append((keys, [statement]))
    found: list[Habit] = []
    for members in (members for group in groups.values() for _, members in group):
        days = {statement.occurred_at.astimezone(zone).date() for statement in members}
        if len(days) < 2:
            continue
        start = _rounded(median(minute_in(statement, zone) for statement in members))
        last = max(members, key=lambda statement: (statement.occurred_at, statement.number))
        numbers = tuple(statement.number for statement in members[-3:])
        meal = meal_in(last.text)
        text = f"have {meal}" if meal else _doing(last.text, name)
        found.append(Habit(start, min(start + HOUR, DAY), text, last.place or place_in(last.text), numbers))
    return found


_PAST = words.listed(
    """
    went took made got gave saw met read wrote sang swam ran rode drove drew built bought brought caught cut fed kept
    led left lit put sat set slept spoke stood swept taught told woke wore
    """
)


def _does(text: str, name: str) -> bool:
    """Whether a text says what the agent does: it opens with the agent, or with what is done."""
    opening = words.words(text)[:1]
    if not opening:
        return False
    first = opening[0].text
    return first in {*name.split(), "I"} or first.endswith(("ed", "ing")) or first.casefold() in _PAST


_TIMES = re.compile(
    r"[,\s]*\b(?:usually|always|every\s+\w+|each\s+\w+|daily)\b|"
    r"[,\s]*\b(?:at|from|around|about|between)\s+\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\b\.?)?"
    r"(?:\s*(?:-|–|to|until|till|and)\s*\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\b\.?)?)?",
    re.IGNORECASE,
)
_BARE = re.compile(r"^(?:is|was|are|were)\s+(?=\w+ing\b)", re.IGNORECASE)
_KEEPS_E = re.compile(r"(?:[aeiou][bcdfgklmnprstvz]|[cgsvz]|[lr][sv])es\b")


def _doing(sentence: str, name: str) -> str:
    """What a sentence says is done, as a plan says it: without who does it, and when."""
    text = " ".join(_TIMES.sub(" ", sentence).split())
    text = re.sub(r"\s+(?=[,;.!])", "", text).strip().rstrip(".!,;").strip()
    text = re.sub(rf"^(?:{re.escape(name)}|{re.escape(name.split()[0])}|I|He|She|They)\s+", "", text)
    bare = _BARE.sub("", text)
    if bare != text or re.match(r"^\w+ing\b", text):
        return shorten(bare)
    if re.match(r"^[a-z]+s\b", text):
        # `opens the café` is planned as `open the café`.
        verb = text.split()[0]
        stem = verb[:-1] if _KEEPS_E.search(verb) or not re.search(r"(?:ch|sh|ss|x|o)es$", verb) else verb[:-2]
        stem = {"ha": "have", "doe": "do", "goe": "go"}.get(stem, re.sub(r"ie$", "y", stem) if len(stem) > 3 else stem)
        return shorten(stem + text[len(verb) :])
    if text[:1].islower():
        return shorten(text)
    return f"as on other days: “{shorten(sentence.strip())}”"
