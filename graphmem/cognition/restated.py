"""What was believed of a key over the agent's time, when something of it is dated before what is known of it already.

A value stands from when the agent came to hold it, except while it is retracted or corrected, and at each moment the
last standing one in the order of the key was believed. What the log says otherwise is said anew: of the changes dated
up to a moment the one that was made last decides (:mod:`graphmem.cognition.past`), so that nothing in it is altered.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from graphmem.cognition import truth
from graphmem.graph.store import Row, Transaction

_Course = list[tuple[datetime, bool]]
"""From when on something is so, or is not so; the first says how it began."""


@dataclass(frozen=True)
class Course:
    """What the log is to say of one value besides what it says."""

    id: str
    turns: tuple[tuple[datetime, bool], ...]
    """When it ceased to be believed (False), and when it was believed again, in order."""
    ended_before: datetime | None
    """When it ended by the log so far; None where it had not."""
    ended: datetime | None
    """When it ended by what is said now; None where it is held."""


@dataclass(frozen=True)
class _Value:
    id: str
    recorded_at: datetime
    silent: bool
    """Nothing of it has to be said: it was forgotten, or cannot have changed."""
    standing: _Course
    """Whether it was neither retracted nor corrected."""
    held: _Course
    """Whether it was believed, by the log."""


async def ahead(tx: Transaction, agent_id: str, keys: Sequence[str], now: datetime) -> list[str]:
    """Those of these keys of which something is dated after a moment."""
    rows = await tx.run("keyed/ahead", agentId=agent_id, keys=list(keys), now=now)
    return [row["key"] for row in rows]


async def restated(
    tx: Transaction, agent_id: str, spans: Sequence[Row], now: datetime, *, arrived: bool
) -> list[Course]:
    """What the log has yet to say of the values of keys, for the time from a moment on.

    Args:
        tx: The transaction.
        agent_id: Whose values.
        spans: ``key``, ``since`` and ``until`` of where in the order something changed.
        now: The moment.
        arrived: Whether nothing happened but that values arrived there, all at that moment.
    """
    if not spans:
        return []
    verbs = [*truth.ENDS, *truth.HOLDS]
    own = [verb for verb in verbs if verb not in (*truth.BY_KEY, "forget")]
    rows = await tx.run("keyed/values", agentId=agent_id, spans=list(spans), now=now, arrived=arrived, own=own)
    changes = await tx.run(
        "keyed/turns", agentId=agent_id, ids=[row["id"] for row in rows], turns=verbs, ends=list(truth.ENDS)
    )
    turns = {id_: list(found) for id_, found in groupby(changes, key=lambda row: row["id"])}
    found: list[Course] = []
    for _, values in groupby(rows, key=lambda row: row["key"]):
        found += courses([_value(row, turns.get(row["id"], [])) for row in values], now)
    return found


def _value(row: Row, turns: Iterable[Row]) -> _Value:
    own: _Course = [(row["recordedAt"], True)]
    held: _Course = [(row["recordedAt"], True)]
    for turn in turns:
        _turn(held, turn["at"], not turn["ends"])
        if not turn["byKey"]:
            _turn(own, turn["at"], not turn["ends"])
    if own[-1][1] != row["standing"]:
        own.append((own[-1][0], row["standing"]))  # What stands now is settled; the log is asked for when.
    return _Value(row["id"], row["recordedAt"], row["forgotten"] or row["settled"], own, held)


def _turn(course: _Course, at: datetime, so: bool) -> None:
    """What is said later holds from its time on, whatever was said of that time before."""
    at = max(at, course[0][0])
    while course and course[-1][0] >= at:
        course.pop()
    if not course or course[-1][1] != so:
        course.append((at, so))


def courses(values: Sequence[_Value], now: datetime) -> list[Course]:
    """For the values of one key, in their order: what the log has yet to say of the time from a moment on."""
    believed = _believed(values)
    found: list[Course] = []
    for place, value in enumerate(values):
        if value.silent:
            continue
        since = max(now, value.recorded_at)
        wanted: _Course = [(since, False)]
        for at, so in believed.get(place, []):
            _turn(wanted, at, so)
        said = value.held
        moments = sorted({at for at, _ in (*wanted, *said) if at >= since})
        differs = next((at for at in moments if _at(wanted, at) != _at(said, at)), None)
        if differs is None:
            continue
        told = [(differs, _at(wanted, differs)), *((at, so) for at, so in wanted if at > differs)]
        found.append(Course(value.id, tuple(told), _ended(said), _ended(told)))
    return found


def _believed(values: Sequence[_Value]) -> dict[int, _Course]:
    """By place in the order: since when the value is the last that stands, and is not; without those that never are."""
    toggles = [(at, place, so) for place, value in enumerate(values) for at, so in value.standing]
    standing: list[int] = []
    found: dict[int, _Course] = {}
    before: int | None = None
    for at, group in groupby(sorted(toggles), key=lambda toggle: toggle[0]):
        for _, place, so in group:
            where = bisect_left(standing, place)
            there = where < len(standing) and standing[where] == place
            if so and not there:
                insort(standing, place)
            elif there and not so:
                del standing[where]
        last = standing[-1] if standing else None
        if last != before and before is not None:
            found[before].append((at, False))
        if last != before and last is not None:
            found.setdefault(last, []).append((at, True))
        before = last
    return found


def _at(course: _Course, moment: datetime) -> bool:
    return [so for at, so in course if at <= moment][-1]


def _ended(course: _Course) -> datetime | None:
    return None if course[-1][1] else course[-1][0]
