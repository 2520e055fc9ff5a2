"""Fields of a node: each is read by a rule that says what becomes of one that is odd."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter, ValidationError

from graphmem.interfaces.simulation.person import Person
from graphmem.models import Label, storable

_LABEL: TypeAdapter[str] = TypeAdapter(Label)
_BY_THE_PROGRAM = re.compile(r"\.*|…|this is blank", re.IGNORECASE)


def is_filler(text: str, name: str) -> bool:
    """Whether a thought is what the published code stores where its model gave no usable answer.

    That is ``this is blank`` in place of an insight, and ``...`` after a conversation, which is stored as
    ``For NAME's planning: ...`` and ``NAME ...``.
    """
    said = text.strip()
    for opening in (f"For {name}'s planning:", name):
        said = said.removeprefix(opening).strip()
    return _BY_THE_PROGRAM.fullmatch(said) is not None


def label(person: Person, value: object, place: str) -> str | None:
    """A name, or None where there is none."""
    if value is None or value == "":
        return None
    try:
        return _LABEL.validate_python(value)
    except ValidationError:
        person.note("names", place)
        return None


def labels(person: Person, value: object, place: str) -> tuple[str, ...]:
    """Keywords, each once."""
    if value is None:
        return ()
    if not isinstance(value, list):
        person.note("names", place)
        return ()
    found: list[str] = []
    for keyword in cast("list[object]", value):
        if keyword == "":
            person.note("names", place)
        elif (name := label(person, keyword, place)) is not None:
            found.append(name)
    return tuple(dict.fromkeys(found))


def importance(person: Person, value: object, place: str, *, highest: int = 10) -> int | None:
    """A rating from 1 to 10, of one that goes up to ``highest``; None where there is none to read."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        person.note("importance", place)
        return None
    whole = round(value * 10 / highest)
    # On the scale to 100, what is below 5 rounds to 0: as mundane as can be.
    if not 0 <= value <= highest or (highest == 10 and whole != value) or (highest == 10 and whole < 1):
        person.note("importance", place)
    return min(10, max(1, whole))


def time(text: object, zone: ZoneInfo) -> datetime | None:
    """A node's time, which has no zone: it is read in ``zone``. None where it cannot be read."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=zone) if found.tzinfo is None else found


def clock(text: object, zone: ZoneInfo) -> datetime | None:
    """A simulation's own time, as ``February 13, 2023, 14:12:50``. None where it cannot be read."""
    if not isinstance(text, str):
        return None
    for form in ("%B %d, %Y, %H:%M:%S", "%B %d, %Y"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=zone)
        except ValueError:
            continue
    return None


def is_storable(text: str) -> bool:
    """Whether the database gives a text back unchanged."""
    try:
        storable(text)
    except ValueError:
        return False
    return True


def traits(values: Mapping[str, object]) -> str | None:
    """Who somebody is, a line each; what could not be stored is escaped as in JSON."""
    lines = (f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in values.items())
    return "\n".join(line if is_storable(line) else json.dumps(line)[1:-1] for line in lines) or None


def rest(values: dict[str, Any]) -> str | None:
    """What has no field of its own, as JSON."""
    kept = {name: value for name, value in values.items() if value is not None}
    return json.dumps(kept, sort_keys=True) if kept else None


def shown(value: object) -> str:
    """A value that should have been an id, as the file has it."""
    text = value if isinstance(value, str) and is_storable(value) else json.dumps(value, sort_keys=True)
    return text if len(text) <= 200 else text[:199] + "…"
