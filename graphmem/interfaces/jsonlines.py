"""Observations from JSON lines, read as a stream: each line gives an observation or the reason it is refused."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, cast

from graphmem.errors import InvalidInput
from graphmem.models import NewObservation, validated

MAX_LINE = 4 * 1024 * 1024
"""Longest line, in bytes; over six times the longest text with every character escaped."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank."""

    number: int
    """From 1, blank lines counted."""
    end: int
    """Bytes of the stream up to the end of this line."""
    item: NewObservation | None = None
    refusal: str = ""
    """Why there is no item."""


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """Read observations; each gets an id, so that reading a file twice stores nothing twice.

    A line without ``id`` gets one made from its content: equal lines are one memory.

    Raises:
        InvalidInput: When the stream is UTF-16, which no line of it could be read from.
    """
    number = end = 0
    while raw := stream.readline(MAX_LINE):
        number += 1
        size = len(raw)
        tail = raw
        while len(tail) == MAX_LINE and not tail.endswith(b"\n"):
            # The rest of a line that is too long is read past, never kept.
            tail = stream.readline(MAX_LINE)
            size += len(tail)
        end += size
        if number == 1:
            if raw.startswith(_UTF_16):
                raise InvalidInput("the file is UTF-16", remedy="save it as UTF-8")
            raw = raw.removeprefix(codecs.BOM_UTF8)
        if size > MAX_LINE:
            yield Line(number, end, refusal=f"is {size:,} bytes long, at most {MAX_LINE:,} are read")
        elif raw.strip():
            yield _read(raw, number, end)


def _read(raw: bytes, number: int, end: int) -> Line:
    try:
        return Line(number, end, item=_observation(raw))
    except InvalidInput as error:
        return Line(number, end, refusal=str(error))


def _observation(raw: bytes) -> NewObservation:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not UTF-8: byte 0x{raw[error.start]:02x} at {error.start + 1}") from error
    try:
        data: object = json.loads(text, object_pairs_hook=_fields, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"is not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("is not JSON that can be read: a number or the nesting is beyond all bounds") from error
    if not isinstance(data, dict):
        raise InvalidInput(f"is not a JSON object but {_NAMES[type(data)]}")
    item = validated(NewObservation, cast("dict[str, Any]", data))
    return item if item.id is not None else item.model_copy(update={"id": _content_id(item)})


_NAMES: dict[type, str] = {
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's fields; one given twice is refused, since which was meant cannot be known."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"{twice}: is given twice")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is not a number in JSON")


def _content_id(item: NewObservation) -> str:
    """An id for a line without one; the same for the same content, in whatever order its fields stand."""
    content = item.model_dump_json(exclude_defaults=True)
    return f"line-{hashlib.sha256(content.encode()).hexdigest()[:24]}"
