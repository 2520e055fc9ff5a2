"""Values of options that are more than a word: each kind is read in one place, for all commands.

One that cannot be read is wrong usage (exit code 2), told with the option it was given to and what to write instead,
before anything is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import typer

from graphmem.errors import InvalidInput

T = TypeVar("T")

TIME, DAY, AGE, STEP = "TIME", "YYYY-MM-DD", "AGE", "LENGTH"
"""What stands for a value in the help."""

_LONGEST_STEP = timedelta(days=1)


class WrongValue(typer.BadParameter):
    """A value that cannot be read.

    Args:
        message: What is wrong with it.
        such: What to write instead, in words; what the command's help says without them.
        example: A value that can be read, as it is written in a shell.
        hint: The option, where the value is not that of the one being read.
    """

    def __init__(self, message: str, *, such: str, example: str = "", hint: str = "") -> None:
        super().__init__(message, param_hint=hint or None)
        self._such, self._example = such, example

    @property
    def remedy(self) -> str:
        """What to write instead, with the option that it is the value of."""
        if not self._example:
            return self._such
        option = self.param.opts[0] if self.param is not None else ""
        return f"{self._such}, as in: {option} {self._example}"


def time_option(help: str) -> Any:
    """An option that takes a moment; for a parameter of type ``datetime | None``."""
    return typer.Option(parser=_time, metavar=TIME, help=f"{help}; with a zone, as 2026-05-18T13:47Z.")


def day_option(help: str) -> Any:
    """An option that takes a day; for a parameter of type ``date | None``."""
    return typer.Option(parser=_day, metavar=DAY, help=help)


def age_option(help: str) -> Any:
    """An option that takes a length of time; for a parameter of type ``timedelta``."""
    return typer.Option(parser=_length, metavar=AGE, help=f"{help}: 30m, 12h, 90d, 6w.")


def step_option(help: str) -> Any:
    """An option that takes a length of time of whole minutes, up to a day; for a parameter of type ``timedelta``."""
    return typer.Option(parser=_step, metavar=STEP, help=f"{help}: 10m, 1h; 10m without it.", show_default=False)


def choices_option(*names: str, choices: Sequence[str], help: str) -> Any:
    """An option that takes one of some words, and may be given again; for a parameter of type ``list[str] | None``."""

    def one(given: Any) -> str:
        if given in choices:
            return given
        raise WrongValue(f"{given!r} is none of them", such=f"choose of {', '.join(choices)}")

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return typer.Option(
        *names, parser=one, metavar="WORD", autocompletion=complete, help=f"{help}: {', '.join(choices)}."
    )


def _time(given: Any) -> datetime:
    from graphmem.clock import as_utc

    return _read(as_utc, given, such="write a time with its zone", example="2026-05-18T13:47Z")


def _day(given: Any) -> date:
    from graphmem.clock import as_date

    return _read(as_date, given, such="write a day as year, month and day", example="2026-06-14")


def _length(given: Any) -> timedelta:
    from graphmem.clock import as_duration

    such = "write a number and its unit, m for minutes, h for hours, d for days or w for weeks"
    return _read(as_duration, given, such=such, example="90d")


def _step(given: Any) -> timedelta:
    from graphmem.clock import as_duration

    such, example = "write whole minutes or hours, a day at most", "10m"
    step = _read(as_duration, given, such=such, example=example)
    if not timedelta() < step <= _LONGEST_STEP or step % timedelta(minutes=1):
        raise WrongValue(f"{given!r} is no step in whole minutes, of a day at most", such=such, example=example)
    return step


def _read(read: Callable[[object], T], given: object, *, such: str, example: str) -> T:
    if isinstance(given, datetime | date | timedelta):
        return read(given)  # A default.
    try:
        return read(given)
    except InvalidInput as error:
        raise WrongValue(str(error), such=such, example=example) from error


@contextmanager
def wrong_usage() -> Generator[None]:
    """What the values of options are refused for, put together and before a store is opened, is wrong usage too."""
    try:
        yield
    except InvalidInput as error:
        raise WrongValue(str(error), such=error.remedy) from error
