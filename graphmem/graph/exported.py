"""The lines of an export: JSON, one node or relationship a line; docs/export.md describes them.

A line keeps properties as they are in the graph. JSON has neither times nor vectors: times stand apart, under
``times``, and a vector is base64 of its float32 numbers, little-endian.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Literal, NoReturn, cast

import numpy as np

from graphmem.clock import as_utc
from graphmem.errors import InvalidInput
from graphmem.graph.store import Row
from graphmem.models import storable

FORMAT = "graphmem-export"
VERSION = 1
MAX_LINE = 16 * 1024 * 1024
"""Longest line, in bytes: the longest text with every character escaped, a vector and much else fit in."""

Kind = Literal["head", "agent", "place", "memory", "run", "change", "relationship", "end"]
KINDS: frozenset[str] = frozenset({"head", "agent", "place", "memory", "run", "change", "relationship", "end"})

Reference = tuple[str, ...]
"""A node within its agent: its kind and what it is known by, e.g. ``("memory", "D1:1")``; of another agent's memory
that agent's id follows."""

_NAME = re.compile(r"[a-z][A-Za-z0-9]{0,63}")
_TYPE = re.compile(r"[A-Z][A-Z_]{0,63}")
_INT64 = 2**63
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Line:
    """One line that was read."""

    number: int
    """From 1."""
    kind: str
    data: Mapping[str, Any]

    def damaged(self, problem: str) -> InvalidInput:
        """The error that names this line."""
        return damaged(self.number, problem)

    def text(self, field: str) -> str:
        """A field that is a text.

        Raises:
            InvalidInput: When it is missing or something else.
        """
        value = self.data.get(field)
        if not isinstance(value, str) or not value:
            raise self.damaged(f"{field} is not a text")
        return value

    def properties(self) -> Row:
        """The properties, times among them.

        Raises:
            InvalidInput: When one cannot be stored.
        """
        try:
            return _decoded(self.data.get("properties", {}), self.data.get("times", {}))
        except ValueError as error:
            raise self.damaged(str(error)) from error

    def labels(self) -> list[str]:
        """The labels beside the first.

        Raises:
            InvalidInput: When they are no labels.
        """
        found = self.data.get("labels")
        if not isinstance(found, list) or not all(isinstance(label, str) for label in cast("list[Any]", found)):
            raise self.damaged("labels is not a list of texts")
        return cast("list[str]", found)

    def vector(self) -> np.ndarray[Any, np.dtype[np.float32]] | None:
        """The vector, where there is one: float32, of whatever length.

        Raises:
            InvalidInput: When it cannot be read.
        """
        given = self.data.get("vector")
        if given is None:
            return None
        try:
            raw = base64.b64decode(given, validate=True)
            return np.frombuffer(raw, dtype="<f4").astype(np.float32)
        except (TypeError, ValueError, binascii.Error) as error:
            raise self.damaged("vector is not base64 of float32 numbers") from error

    def reference(self, field: Literal["from", "to"]) -> Reference:
        """Where a relationship begins or ends.

        Raises:
            InvalidInput: When it names no node.
        """
        value = self.data.get(field)
        parts = cast("list[Any]", value) if isinstance(value, list) else []
        if len(parts) not in (2, 3) or not all(isinstance(part, str) for part in parts):
            raise self.damaged(f"{field} names no node")
        return tuple(cast("list[str]", parts))

    def name(self) -> str:
        """The type of a relationship.

        Raises:
            InvalidInput: When it is none.
        """
        name = self.text("name")
        if not _TYPE.fullmatch(name):
            raise self.damaged(f"{name[:_SHOWN]!r} is no type of a relationship")
        return name


def damaged(number: int, problem: str) -> InvalidInput:
    """The error for a line that cannot be read."""
    return InvalidInput(
        f"line {number}: {problem}",
        remedy="nothing was imported; use an undamaged copy of the export, or export again",
    )


def node(kind: Kind, row: Row, **more: Any) -> dict[str, Any]:
    """A node as a line; ``vector`` and ``labels`` of the row are kept where there are some."""
    line: dict[str, Any] = {"type": kind, **more}
    if "labels" in row:
        line["labels"] = sorted(label for label in row["labels"] if label != "Memory")
    line |= _encoded(row["properties"])
    if row.get("vector") is not None:
        line["vector"] = base64.b64encode(np.asarray(row["vector"], dtype="<f4").tobytes()).decode("ascii")
    return line


def relationship(row: Row, start: Sequence[str], end: Sequence[str]) -> dict[str, Any]:
    """A relationship as a line."""
    return {
        "type": "relationship",
        "name": row["name"],
        "from": list(start),
        "to": list(end),
        **_encoded(row["properties"]),
    }


def written(line: Mapping[str, Any]) -> bytes:
    """A line as it stands in the file."""
    return json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _encoded(properties: Row) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    times: dict[str, str] = {}
    for name, value in sorted(properties.items()):
        if isinstance(value, datetime):
            times[name] = value.isoformat()
        elif value is not None:
            plain[name] = value
    return {"properties": plain, **({"times": times} if times else {})}


def _decoded(properties: object, times: object) -> Row:
    if not isinstance(properties, dict) or not isinstance(times, dict):
        raise ValueError("properties or times is not an object")
    row: Row = {}
    for name, value in cast("dict[str, Any]", properties).items():
        items = cast("list[Any]", value) if isinstance(value, list) else None
        row[_name(name)] = _value(name, value) if items is None else [_value(name, item) for item in items]
    for name, value in cast("dict[str, Any]", times).items():
        if _name(name) in row or not isinstance(value, str):
            raise ValueError(f"the time {name} is given twice, or no text")
        try:
            row[name] = as_utc(value)
        except InvalidInput as error:
            raise ValueError(f"{name}: {error}") from error
    return row


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:_SHOWN]!r} is no name of a property")
    return name


def _value(name: str, value: Any) -> Any:
    """A value that Neo4j can keep as it is."""
    if isinstance(value, str):
        try:
            return storable(value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from error
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is no number that there is")
    if isinstance(value, bool | float) or (isinstance(value, int) and -_INT64 <= value < _INT64):
        return value
    raise ValueError(f"{name} is neither a text nor a number")


def read(stream: BinaryIO, seen: Callable[[bytes], None] | None = None) -> Iterator[Line]:
    """Read an export line by line, the head first; every line is JSON of a known type, and the last is the end.

    Args:
        stream: The file from its beginning.
        seen: Is given all that is read.

    Raises:
        InvalidInput: When it is no export, of another version, damaged (the line is named), or cut short.
    """
    number = 0
    kind = ""
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        if seen is not None:
            seen(raw)
        if kind == "end":
            raise damaged(number, "stands behind the end")
        if len(raw) > MAX_LINE:
            raise damaged(number, f"is over {MAX_LINE:,} bytes long")
        if number == 1:
            _check_head(raw)
        data = _object(raw, number)
        found = data.get("type")
        kind = found if isinstance(found, str) else ""
        if kind not in KINDS or (kind == "head") != (number == 1):
            raise damaged(number, f"is of the type {str(found)[:_SHOWN]!r}, which cannot stand there")
        yield Line(number, kind, data)
    if number == 0:
        raise InvalidInput("the file is empty", remedy="name a file that graphmem export wrote")
    if kind != "end":
        raise InvalidInput(
            f"the export is cut short: it has no end after line {number}",
            remedy="nothing was imported; use a whole copy of it, or export again",
        )


def _check_head(raw: bytes) -> None:
    """Refuse what is no export, and versions of the format that are not known here."""
    try:
        data: Any = json.loads(raw)
        head = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    except (ValueError, RecursionError):
        head = {}
    if head.get("format") != FORMAT:
        raise InvalidInput(
            "the file is not an export of graphmem: its first line does not say so",
            remedy="name a file that graphmem export wrote, or its format with --format",
        )
    if head.get("version") != VERSION:
        raise InvalidInput(
            f"the export has version {head.get('version')!r} of the format; this graphmem reads {VERSION}",
            remedy="upgrade graphmem, or export with the version that is installed here",
        )


def _object(raw: bytes, number: int) -> dict[str, Any]:
    try:
        data: Any = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise damaged(number, f"is not UTF-8: byte 0x{raw[error.start]:02x} at {error.start + 1}") from error
    except json.JSONDecodeError as error:
        raise damaged(number, f"is not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise damaged(number, "is not JSON that can be read") from error
    if not isinstance(data, dict):
        raise damaged(number, "is not a JSON object")
    return cast("dict[str, Any]", data)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")
