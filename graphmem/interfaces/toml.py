"""TOML files that people write, and the line at which one says what is refused (tomllib keeps none)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from graphmem.errors import InvalidInput
from graphmem.interfaces.files import read_text
from graphmem.models import validated

M = TypeVar("M", bound=BaseModel)

_TABLE = re.compile(r"\s*\[")


def parse(file: Path, text: str, *, remedy: str) -> dict[str, Any]:
    """What the text of a file holds.

    Raises:
        InvalidInput: When it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{file}: is not TOML: {error}", remedy=remedy) from error


def headers(lines: Sequence[str], table: str) -> list[int]:
    """The lines, from 1 on, at which the entries of an array of tables begin."""
    begins = re.compile(rf"\s*\[\[\s*{re.escape(table)}\s*\]\]")
    return [number for number, line in enumerate(lines, start=1) if begins.match(line)]


def line_of(lines: Sequence[str], key: str, *, table: str | None = None, index: int = 0) -> int | None:
    """The line that sets a key, at the top or in an entry of an array of tables; else that where the entry begins."""
    begin = 0
    if table is not None:
        at = headers(lines, table)
        if index >= len(at):
            return line_of(lines, table)  # It is written as one inline array.
        begin = at[index]
    sets = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]")
    for number, line in enumerate(lines[begin:], start=begin + 1):
        if sets.match(line):
            return number
        if _TABLE.match(line) and not line.strip().endswith(","):
            break
    return begin or None


def value(
    model: type[M], data: Mapping[str, Any], *, file: Path, remedy: str, tables: Mapping[str, str] | None = None
) -> M:
    """A value of what a file holds.

    Args:
        model: What it is to be.
        data: Its fields.
        file: The file.
        remedy: What to do where it is refused and nothing better is known.
        tables: By field, the array of tables that it is written as.

    Raises:
        InvalidInput: When it is refused; names the file, and the line where that can be told.
    """
    try:
        return validated(model, data)
    except InvalidInput as error:
        told, line = str(error), None
        lines = read_text(file, empty=True).splitlines()
        cause = error.__cause__
        loc = cause.errors(include_url=False)[0]["loc"] if isinstance(cause, ValidationError) else ()
        match [str(part) for part in loc]:
            case [field, index, *rest] if (table := (tables or {}).get(field)) and index.isdigit():
                told = told.removeprefix(".".join([field, index])).lstrip(".: ")
                # What does not fit together within an entry is told with the field first.
                key = rest[0] if rest else told.partition(":")[0]
                line = line_of(lines, key, table=table, index=int(index))
                told = f"[[{table}]]: {told}"
            case [field, *_]:
                line = line_of(lines, field)
            case _:
                # What does not fit together is named in the message: where the file says it first.
                told = told.removeprefix(f"{model.__name__}: ")
                named = re.search(r"'([^']+)'", told)
                said = (n for n, each in enumerate(lines, start=1) if named and f'"{named[1]}"' in each)
                line = next(said, None)
        at = f"{file}:{line}" if line is not None else str(file)
        raise InvalidInput(f"{at}: {told}", remedy=error.remedy or remedy) from error
