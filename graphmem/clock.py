"""Times: the one place where they are read, checked and turned into UTC.

The rule: a datetime must carry a zone. Naive ones are refused, never guessed, because a guess shifts recency
by hours without anybody noticing. ISO 8601 strings (with ``Z`` or an offset) and epoch seconds are read too.
Everything is stored in UTC, to the microsecond.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator

from graphmem.errors import InvalidTime

_REMEDY = "give a zone, e.g. datetime.now(UTC) or '2023-05-18T13:47:00Z'"


def as_utc(value: object) -> datetime:
    """Read a time and turn it into UTC.

    Args:
        value: An aware datetime, an ISO 8601 string with an offset or ``Z``, or epoch seconds.

    Raises:
        InvalidTime: When it is naive, unreadable, not finite, or outside the years 2–9998.
    """
    if isinstance(value, bool):
        raise InvalidTime(f"{value!r} is not a time", remedy=_REMEDY)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float):
            if not math.isfinite(value):
                raise InvalidTime(f"{value!r} is not a time", remedy=_REMEDY)
            value = datetime.fromtimestamp(value, UTC)
        if not isinstance(value, datetime):
            raise InvalidTime(f"{type(value).__name__} {value!r} is not a time", remedy=_REMEDY)
        if value.utcoffset() is None:
            raise InvalidTime(f"the time {value.isoformat()} has no zone, such as Z or +02:00", remedy=_REMEDY)
        moment = value.astimezone(UTC)
        _check_year(moment)
        return moment
    except (ValueError, TypeError, OverflowError, OSError) as error:
        # Of what has not even the form of a time, Python says no more than that.
        why = "" if str(error).startswith("Invalid isoformat") else f": {error}"
        raise InvalidTime(f"{value!r} is not a time{why}", remedy=_REMEDY) from error


def _check_year(day: date) -> None:
    """Leave room for the days before and after, and for any zone."""
    if not 1 < day.year < 9999:
        raise InvalidTime(f"{day.isoformat()} is outside the years 2 to 9998", remedy="give a time within them")


def as_date(value: object) -> date:
    """Read a day: a ``date``, or a string ``YYYY-MM-DD``.

    Raises:
        InvalidTime: When it is none, or outside the years 2–9998.
    """
    try:
        if isinstance(value, str):
            value = date.fromisoformat(value.strip())
        if isinstance(value, date) and not isinstance(value, datetime):
            _check_year(value)
            return value
    except ValueError:
        pass
    raise InvalidTime(f"{value!r} is not a date", remedy="give a date, or a string such as '2026-06-12'")


def in_zone(moment: datetime, zone: str) -> datetime:
    """The same moment as the clock of an IANA zone shows it, with the offset that the zone has then.

    The offset is fixed: between times of one zone Python would count by the clock, an hour wrong where it changes.
    """
    local = moment.astimezone(ZoneInfo(zone))
    offset = local.utcoffset()
    assert offset is not None
    return local.replace(tzinfo=timezone(offset), fold=0)


_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*([mhdw])")


def as_duration(value: object) -> timedelta:
    """Read a length of time.

    Args:
        value: A timedelta, or a number and a unit: ``30m``, ``12h``, ``90d``, ``6w``.

    Raises:
        InvalidTime: When it is neither, negative, or too long.
    """
    remedy = "give a timedelta, or a number and a unit: 30m, 12h, 90d, 6w"
    try:
        if isinstance(value, str) and (found := _DURATION.fullmatch(value.strip())):
            value = timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError as error:
        raise InvalidTime(f"{value!r} is too long", remedy=remedy) from error
    if not isinstance(value, timedelta) or value < timedelta():
        raise InvalidTime(f"{value!r} is not a length of time", remedy=remedy)
    return value


def system_now() -> datetime:
    """The machine's own time, in UTC."""
    return datetime.now(UTC)


def _validate(value: Any) -> datetime:
    try:
        return as_utc(value)
    except InvalidTime as error:
        raise ValueError(str(error)) from error


UtcTime = Annotated[datetime, BeforeValidator(_validate)]
"""A pydantic field type: anything :func:`as_utc` reads, as an aware datetime in UTC."""


def _known_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{value!r} is not an IANA time zone, such as Europe/Berlin") from error
    return value


TimeZone = Annotated[str, AfterValidator(_known_zone)]
"""A pydantic field type: the name of an IANA time zone."""
