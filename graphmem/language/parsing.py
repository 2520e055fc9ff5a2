"""The parse gate: from what a model wrote to a value, or a refusal that says why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NoReturn, cast

from graphmem.errors import ReplyRefused
from graphmem.language import reading

REMEDY = "ask again; if it happens often, use a more capable language model"

_OPENERS = re.compile(r"\{(?=\s*[\"'}])|\[(?=\s*[\[{\"'\]\-\dtfn])")
_MOST_VALUES = 1_000
"""JSON values in one reply from which on it is no answer."""
_BULLET = re.compile(r"^\s*(?:[-*•–]\s+|\(?\d{1,4}\s*[.):]\s*)")
_OPEN_BECAUSE = re.compile(r"[(\[]\s*because\s+of\b", re.IGNORECASE)


def _refuse(reason: str) -> NoReturn:
    raise ReplyRefused(reason, gate="parse", remedy=REMEDY)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Control characters inside strings (raw line breaks, tabs) are what models write; strict=False keeps them.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def parse(raw: str) -> object:
    """Find the answer in what a model wrote.

    Reads JSON in a code fence, amid chatter, with control characters inside strings or with trailing commas; a bare
    list; and the bracketed form ``insight (because of 1, 5, 3)``, one insight a line, which becomes
    ``{"insights": [{"text": …, "evidence": "1, 5, 3"}]}``. Of several JSON values the longest counts, the last of
    equal ones.

    Raises:
        ReplyRefused: Gate ``parse``; the reason says whether it is empty, truncated, or not JSON.
    """
    text = raw.replace("\ufeff", "").strip()
    if not text:
        _refuse("the reply is empty")
    try:
        whole = cast("object", _DECODER.decode(text))
    except (ValueError, RecursionError):
        pass
    else:
        return _unwrapped(whole)
    values, problem = _json_values(text)
    lines = _bracketed(text)
    structured = [value for value in values if _holds_items(value)]
    if structured:
        return structured[0]
    if lines is not None:
        return {"insights": lines}
    if problem:
        _refuse(problem)
    if values:
        return values[0]
    return _refuse("the reply holds neither JSON nor a line '… (because of 1, 2)'")


def _unwrapped(value: object) -> object:
    """JSON that was written as a string inside JSON."""
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        try:
            return cast("object", _DECODER.decode(value.strip()))
        except (ValueError, RecursionError):
            return value
    return value


def _holds_items(value: object) -> bool:
    """Whether a value can be an answer: an object, or a list of objects or texts; `[1]` amid chatter is a citation."""
    if not isinstance(value, list):
        return True
    items = cast("list[object]", value)
    return not items or any(isinstance(item, dict | str) for item in items)


def _json_values(text: str) -> tuple[list[object], str]:
    """All JSON values in a text, best first, and what is wrong with the others.

    Raises:
        ReplyRefused: When one of them never ends: what came before is then not the answer.
    """
    found: list[tuple[bool, int, int, object]] = []
    problem = ""
    position = 0
    while opener := _OPENERS.search(text, position):
        start = opener.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except RecursionError:
            _refuse("the JSON is nested too deeply")
        except ValueError as error:
            closing = _closing(text, start)
            if closing is None:
                _refuse("the reply is truncated: its JSON never ends")
            end = closing
            try:
                value = _DECODER.decode(_without_trailing_commas(text[start:end]))
            except (ValueError, RecursionError):
                problem = f"the reply is not valid JSON: {str(error)[:120]}"
                position = end
                continue
        found.append((not is_schema(value), end - start, start, value))
        if len(found) > _MOST_VALUES:
            _refuse(f"the reply holds more than {_MOST_VALUES:,} JSON values")
        position = end
    found.sort(key=lambda entry: entry[:3], reverse=True)
    return [entry[3] for entry in found], problem


def _closing(text: str, start: int) -> int | None:
    """The position after the bracket that closes the one at ``start``; None when the text ends before."""
    depth = 0
    in_string = False
    for match in re.compile(r'\\.|["{}\[\]]', re.DOTALL).finditer(text, start):
        sign = match[0]
        if sign == '"':
            in_string = not in_string
        elif not in_string and sign in "{[":
            depth += 1
        elif not in_string and sign in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _without_trailing_commas(text: str) -> str:
    return re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda match: match[1] or "", text, flags=re.DOTALL)


def _bracketed(text: str) -> list[dict[str, object]] | None:
    """The lines of the bracketed form; None when there is no such line.

    Raises:
        ReplyRefused: When the last line breaks off.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("```")]
    if not any(_OPEN_BECAUSE.search(line) for line in lines):
        return None
    items: list[dict[str, object]] = []
    for number, line in enumerate(lines, start=1):
        bullet = _BULLET.match(line)
        body = line[bullet.end() :] if bullet else line
        position = 0
        for match in reading.BECAUSE.finditer(body):
            items.append({"text": body[position : match.start()].strip(" .;,"), "evidence": match[1]})
            position = match.end()
        rest = body[position:].strip(" .;,")
        last = number == len(lines)
        if last and (_OPEN_BECAUSE.search(rest) or (bullet and rest and not body.endswith((".", "!", "?", ")")))):
            _refuse("the reply is truncated: its last line breaks off")
        if rest and bullet:
            items.append({"text": rest})
    return items


def is_schema(value: object) -> bool:
    """Whether a value is a JSON schema rather than what it describes."""
    if not isinstance(value, Mapping):
        return False
    keys = cast("Mapping[object, object]", value).keys()
    return "$schema" in keys or "$defs" in keys or ("properties" in keys and bool({"type", "title", "required"} & keys))
