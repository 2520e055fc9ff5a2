"""Reading the JSON files of a save: what cannot be read is told with the file and the place in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from graphmem.errors import InvalidInput
from graphmem.interfaces.files import read_text

FORMAT = "docs/simulations.md describes the files"

_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    type(None): "null",
}


def read_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        InvalidInput: When the file is missing, no JSON, or holds something else; names file, line and column.
    """
    value = _read(file)
    if not isinstance(value, dict):
        raise InvalidInput(f"{file}: holds {named(value)}, not an object", remedy=FORMAT)
    return cast("dict[str, Any]", value)


def read_list(file: Path) -> list[Any]:
    """The list in a JSON file.

    Raises:
        InvalidInput: As for :func:`read_object`.
    """
    value = _read(file)
    if not isinstance(value, list):
        raise InvalidInput(f"{file}: holds {named(value)}, not a list", remedy=FORMAT)
    return cast("list[Any]", value)


def _read(file: Path) -> object:
    text = read_text(file)
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{file}:{error.lineno}:{error.colno}: is not JSON: {error.msg}",
            remedy="the file may be cut off: copy the save again",
        ) from error
    except _TwiceError as error:
        raise InvalidInput(f"{file}: {error.args[0]!r} is given twice", remedy="keep one of the two") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file}: a number or the nesting is beyond all bounds", remedy=FORMAT) from error


class _TwiceError(Exception):
    """A key that an object holds twice: which was meant cannot be known."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return fields


def named(value: object) -> str:
    """What a JSON value is, in words."""
    return _NAMES.get(type(value), "a number")
