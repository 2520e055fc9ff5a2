"""The day's schedule as plans: the day in a sentence, its hours, and their steps, each a part of what is above it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation import fields
from graphmem.interfaces.simulation.person import Person
from graphmem.models import ImportedPlan, validated

_LISTS = {"hour": "f_daily_schedule_hourly_org", "step": "f_daily_schedule"}


def day_plan(common: Mapping[str, Any], made: datetime, clock: datetime | None) -> ImportedPlan:
    """The day's plan in a sentence.

    Raises:
        InvalidInput: When a value cannot be stored.
    """
    start = made.replace(hour=0, minute=0, second=0, microsecond=0)
    end = start + timedelta(days=1)
    return validated(ImportedPlan, {**common, "kind": "day", **_span(start, end, clock)})


def schedule(
    person: Person, scratch: Mapping[str, Any], clock: datetime, plan_of_day: Mapping[str, str]
) -> list[ImportedPlan]:
    """The schedule of the day of the clock: hours, then steps.

    Args:
        person: Whose it is; what cannot be read is noted there.
        scratch: ``scratch.json``: lists of [what, minutes], from midnight on.
        clock: The simulation's own time. What was scheduled before is done: the published code does what the schedule
            says, and rewrites it where it does something else.
        plan_of_day: By the day, the id of its plan in a sentence.
    """
    midnight = clock.replace(hour=0, minute=0, second=0, microsecond=0)
    day = f"{midnight:%Y-%m-%d}"
    above = plan_of_day.get(day)

    def the_day(_start: datetime) -> str | None:
        return above

    hours = _entries(person, scratch, "hour", midnight, clock, the_day)

    def hour_of(start: datetime) -> str | None:
        return next((hour.id for hour in hours if hour.start <= start < hour.end), above)

    return [*hours, *_entries(person, scratch, "step", midnight, clock, hour_of)]


def _entries(
    person: Person,
    scratch: Mapping[str, Any],
    kind: str,
    midnight: datetime,
    clock: datetime,
    parent: Callable[[datetime], str | None],
) -> list[ImportedPlan]:
    name = _LISTS[kind]
    listed: object = scratch.get(name) or []
    if not isinstance(listed, list):
        person.note("schedule", name)
        return []
    plans: list[ImportedPlan] = []
    start = midnight
    for number, entry in enumerate(cast("list[object]", listed), start=1):
        place = f"{name}[{number - 1}]"
        match entry:
            case [str(what), int(minutes)] if minutes > 0:
                pass
            case [str(), 0]:
                person.note("no_time", place)
                continue
            case _:
                person.note("schedule", place)
                continue
        end = start + timedelta(minutes=minutes)
        above = parent(start)
        span = _span(start, end, clock)
        where = fields.label(person, scratch.get("act_address"), "act_address") if span["state"] == "active" else None
        given = {
            "id": f"plan-{midnight:%Y-%m-%d}-{kind}-{number:03}",
            "text": what,
            "kind": kind,
            "occurred_at": midnight,
            "parents": (above,) if above else (),
            "place": where if kind == "step" else None,
            **span,
        }
        start = end
        try:
            plans.append(validated(ImportedPlan, given))
        except InvalidInput:
            person.note("schedule", place)
    return plans


def _span(start: datetime, end: datetime, clock: datetime | None) -> dict[str, Any]:
    state = "planned"
    if clock is not None and start <= clock:
        state = "done" if end <= clock else "active"
    return {"start": start, "end": end, "state": state}
