"""Days without a model: the answers of the built-in engine to :mod:`graphmem.language.planning`.

A day is made of what the agent's memories say: appointments, what it does as a rule, when it sleeps, what it works at
and what has been on its mind, in this order; what nobody said is a plain day with three meals. It decides to react to
what is urgent, to what takes place today or is called off, and to people it meets. All of it is deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from graphmem.language import topics, whens, words
from graphmem.language.base import Statement
from graphmem.language.occupation import occupation
from graphmem.language.planning import DecideReaction, DividePlan, PlanDay, Scheduled
from graphmem.language.routines import habits, nights
from graphmem.language.text import normalise_text
from graphmem.language.topics import Reader
from graphmem.language.whens import DAY, HOUR, common_meal, meal_in

_STEP = 15
_LEFT_OUT = re.compile(r"^“([^”]+)” (?:was|were) (?:dropped|missed)")
"""How a lesson of the built-in engine begins that says to leave something out."""


@dataclass(frozen=True)
class _Piece:
    """A block of the day, in minutes of it."""

    start: int
    end: int
    text: str
    place: str = ""
    numbers: tuple[int, ...] = ()


# --- the day -------------------------------------------------------------------------------------------------------


def plan_day(task: PlanDay) -> dict[str, Any]:
    """Blocks of the day: a plain day, over it habits, what was planned and still holds, and appointments."""
    zone = ZoneInfo(task.time_zone)
    name, _, traits = task.agent.partition(": ")
    known = [statement for statement in task.statements if statement.status == "active"]
    day = date.fromisoformat(task.date)
    since = _minute(task.since)
    wakes, sleeps = nights(known, traits, zone)
    left_out = {normalise_text(match[1]) for statement in known if (match := _LEFT_OUT.match(statement.text))}
    had = {meal for line in task.past if (meal := meal_in(line.text))}
    booked = [
        _Piece(item.start, item.end, item.text, item.place, (item.number,))
        for item in whens.appointments(known, day, zone, name, traits)
        if item.end > since
    ]
    had |= {meal for piece in booked if (meal := meal_in(piece.text))}
    off = [statement.text for statement in known if _on(statement, day, zone) and whens.is_off(statement.text)]
    kept = [
        _of(line)
        for line in task.rest
        if not line.stale
        # A meal that has begun is finished; one that was eaten is not eaten again.
        and (meal_in(line.text) not in had or _minute(line.start) < since)
        and not any(whens.concerns(text, line.text) for text in off)
    ]
    had |= {meal for piece in kept if (meal := meal_in(piece.text))}

    layers: list[_Piece] = []
    for habit in habits(known, zone, name, traits):
        piece = _Piece(habit.start, habit.end, habit.text, habit.place, habit.numbers)
        meal = meal_in(piece.text)
        if normalise_text(piece.text) in left_out or (meal is not None and meal in had):
            continue
        if meal is not None:
            had.add(meal)
        layers.append(piece)
    base = _plain(task, known, traits, wakes, sleeps, had)
    layers += [piece for piece in kept if not any(_equal(piece, other) for other in booked)]
    if task.reaction:
        before = min([piece.start for piece in booked if piece.start > since], default=DAY)
        layers.append(_Piece(since, min(since + HOUR, before, DAY), task.reaction, "", ()))
    layers += booked
    pieces = _lay([*base, *layers], since)
    return {
        "plan": [
            {
                "start": _clock(piece.start),
                "end": _clock(piece.end),
                "text": piece.text,
                "place": piece.place,
                "evidence": list(piece.numbers),
            }
            for piece in pieces
        ]
    }


def _on(statement: Statement, day: date, zone: ZoneInfo) -> bool:
    return statement.occurred_at.astimezone(zone).date() == day


def _minute(clock: str) -> int:
    hour, minute = clock.split(":")
    return int(hour) * HOUR + int(minute)


def _clock(minute: int) -> str:
    """A minute of the day, or of the night after it, as a clock shows it."""
    return "24:00" if minute == DAY else f"{minute // HOUR % 24:02}:{minute % HOUR:02}"


def _of(line: Scheduled) -> _Piece:
    start, end = _minute(line.start), _minute(line.end)
    return _Piece(start, end if end > start else end + DAY, line.text, line.place or "")


def _equal(first: _Piece, second: _Piece) -> bool:
    return normalise_text(first.text) == normalise_text(second.text)


def _plain(
    task: PlanDay, known: Sequence[Statement], traits: str, wakes: int, sleeps: int, had: set[str]
) -> list[_Piece]:
    """A day on which nothing is arranged: sleep, three meals, work in two halves, an evening."""
    name = task.agent.partition(": ")[0]
    job = occupation(traits, name)
    work, where = (job.text, job.place) if job else (_NOTHING, "")
    matters = _matters(known, name)

    def matter(place: int, before: str) -> tuple[str, tuple[int, ...]]:
        if len(matters) <= place:
            return before, ()
        topic, numbers = matters[place]
        if before == _NOTHING:
            return f"see to {topic}", numbers
        return f"{before} and {'think about' if before == _LEISURE else 'see to'} {topic}", numbers

    morning, evidence = matter(0, work)
    afternoon, later = matter(1 if len(matters) > 1 else 0, work)
    evening, last = matter(2, _LEISURE)
    noon = max(12 * HOUR, wakes + 2 * HOUR)
    dinner = max(18 * HOUR, noon + 3 * HOUR)
    pieces = [
        _Piece(0, wakes, "sleep"),
        _Piece(wakes, wakes + HOUR, "get up, wash and have breakfast"),
        _Piece(wakes + HOUR, noon, morning, where, evidence),
        _Piece(noon, noon + HOUR, "have lunch"),
        _Piece(noon + HOUR, dinner, afternoon, where, later),
        _Piece(dinner, dinner + HOUR, "have dinner"),
        _Piece(dinner + HOUR, sleeps, evening, "", last),
        _Piece(sleeps, DAY + wakes, "sleep"),
    ]
    found: list[_Piece] = []
    for piece in pieces:
        meal = meal_in(piece.text)
        if meal == "breakfast" and meal in had:
            piece = replace(piece, text="get up and wash")
        elif meal is not None and meal in had:
            # It is eaten already, or at another time: what comes before goes on.
            found[-1:] = [replace(found[-1], end=piece.end)]
            continue
        if piece.start < piece.end:
            found.append(piece)
    return found


_LEISURE = "spend the evening at leisure"
_NOTHING = "see to what there is to do"


def _matters(known: Sequence[Statement], name: str) -> list[tuple[str, tuple[int, ...]]]:
    """What has been on its mind, the weightiest first, each with the two latest memories of it."""
    reader = Reader([statement for statement in known if statement.type == "observation"])
    found: list[tuple[str, tuple[int, ...]]] = []
    taken = {word.fold for word in words.words(name)}
    told: set[int] = set()
    for cluster in reader.clusters():
        numbers = {memo.number for memo in cluster.members}
        if taken & set(cluster.topic.split()) or 2 * len(numbers & told) > len(numbers):
            continue
        told |= numbers
        taken |= set(cluster.topic.split())
        members = cluster.members[-2:]
        name = topics.display(topics.widest(cluster.topic, cluster.members), cluster.members)
        taken |= set(name.casefold().split())
        found.append((name, tuple(memo.number for memo in members)))
        if len(found) == 3:
            break
    return found


def _lay(pieces: Sequence[_Piece], since: int) -> list[_Piece]:
    """Pieces laid over each other in this order, from a minute on; neighbours that are the same become one."""
    laid: list[_Piece] = []
    for piece in pieces:
        start, end = max(piece.start, since), piece.end
        if start >= end:
            continue
        kept: list[_Piece] = []
        for below in laid:
            kept += [
                replace(below, start=a, end=b)
                for a, b in ((below.start, min(below.end, start)), (max(below.start, end), below.end))
                if a < b
            ]
        laid = [*kept, replace(piece, start=start, end=end)]
    laid.sort(key=lambda piece: piece.start)
    found: list[_Piece] = []
    for piece in laid:
        # What is left of a block between two others is too short to begin with it.
        short = piece.end - piece.start < _STEP
        if found and (short or (_equal(found[-1], piece) and found[-1].place == piece.place)):
            found[-1] = replace(found[-1], end=piece.end)
        else:
            found.append(piece)
    return found


# --- its parts -----------------------------------------------------------------------------------------------------

_MEAL_STEPS = (
    ("make {meal}", 15),
    ("eat {meal}", 15),
    ("sit on for a while", 10),
    ("wash up", 10),
    ("take a break", 10),
)
_MORNING_STEPS = (("get up and wash", 15), ("get dressed", 10), ("make breakfast", 10), ("eat breakfast", 15))


def divide_plan(task: DividePlan) -> dict[str, Any]:
    """Hours by the clock; steps of a quarter of an hour, of a meal what belongs to one.

    A meal with a name of its own, a place or company is somebody's dinner: its steps keep what it is.
    """
    if task.into == "hour":
        return {"parts": _hours(task)}
    meal = common_meal(task.text)
    steps: list[tuple[str, int]] = []
    if meal is not None:
        named = [*_MORNING_STEPS, ("wash up after breakfast", 10)] if meal == "breakfast" else [
            (text.format(meal=meal), minutes) for text, minutes in _MEAL_STEPS
        ]  # fmt: skip
        left = task.minutes
        for text, minutes in named:
            if left >= minutes:
                steps.append((text, minutes))
                left -= minutes
        steps += [("take a break", minutes) for minutes in _slices(left)]
    else:
        lengths = _slices(task.minutes)
        count = len(lengths)
        steps = [
            (f"{task.text} ({number} of {count})" if count > 1 else task.text, minutes)
            for number, minutes in enumerate(lengths, start=1)
        ]
    return {"parts": [{"text": text, "minutes": minutes, "place": task.place} for text, minutes in steps]}


def _hours(task: DividePlan) -> list[dict[str, Any]]:
    first = HOUR - _minute(task.start) % HOUR
    left = task.minutes
    lengths: list[int] = []
    while left > 0:
        length = min(first if not lengths else HOUR, left)
        lengths.append(length)
        left -= length
    if len(lengths) > 1 and lengths[-1] < _STEP:
        lengths[-2:] = [sum(lengths[-2:])]
    if len(lengths) > 1 and lengths[0] < _STEP:
        lengths[:2] = [sum(lengths[:2])]
    return [{"text": task.text, "minutes": minutes, "place": task.place} for minutes in lengths]


def _slices(minutes: int) -> list[int]:
    """So many minutes in steps of 5 to 15; less than 5 belong to the last."""
    whole, rest = divmod(minutes, _STEP)
    lengths = [_STEP] * whole
    if rest >= 5 or (rest and not lengths):
        lengths.append(rest)
    elif rest:
        lengths[-1:] = [10, 5 + rest]
    return lengths


# --- reacting --------------------------------------------------------------------------------------------------------

_URGENT = re.compile(
    r"\b(?:fire|smoke|burn\w*|flood\w*|leak\w*|sinking|accident|injur\w*|wounded|bleeding|faint\w*|collapse[ds]?|"
    r"emergency|danger\w*|help!|broke(?:n)?\s+down|crash\w*|stolen|missing)\b",
    re.IGNORECASE,
)
_ASLEEP = re.compile(r"\b(?:sleep\w*|asleep)\b", re.IGNORECASE)
_SPOKEN = 2 * HOUR
"""Minutes for which two who have talked do not begin to talk again."""


def decide_reaction(task: DecideReaction) -> dict[str, Any]:
    """React to what is urgent, to what is to be today or is called off, and to somebody met; else go on."""
    zone = ZoneInfo(task.time_zone)
    name, _, traits = task.agent.partition(": ")
    observed = task.statements[0]
    moment = observed.occurred_at
    if _URGENT.search(observed.text):
        return {"react": True, "reason": f"it is urgent: {observed.text}", "doing": f"see to it: {observed.text}",
                "replan": True, "evidence": [1]}  # fmt: skip
    today = moment.astimezone(zone).date()
    if whens.is_off(observed.text):
        for line in task.rest:
            if whens.concerns(observed.text, line.text):
                return {"react": True, "reason": f"{line.text} is called off", "replan": True, "evidence": [1]}
    booked = whens.appointments([observed, *task.statements[1:]], today, zone, name, traits)
    new = [item for item in booked if item.number == 1]
    if new and not any(normalise_text(line.text) == normalise_text(new[0].text) for line in task.rest):
        reason = f"{new[0].text} at {_clock(new[0].start)}"
        return {"react": True, "reason": reason, "replan": True, "evidence": [1], "converse_with": None}
    if task.people and not (task.doing and _ASLEEP.search(task.doing)):
        person = task.people[0]
        spoke = [
            statement
            for statement in task.statements[1:]
            if statement.source is not None and statement.source.split()[0] == person.split()[0]
            and abs((moment - statement.occurred_at).total_seconds()) < _SPOKEN * 60
        ]  # fmt: skip
        if not spoke:
            return {"react": True, "reason": f"it meets {person}", "converse_with": 1, "evidence": [1]}
    return {"react": False, "reason": "nothing in it asks for another plan"}
