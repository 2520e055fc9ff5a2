"""What a reply passes before anything of it is stored: parse, shape, index, support.

Each gate is a pure function with one job. A reply that is refused as a whole raises
:class:`~graphmem.errors.ReplyRefused`; a single item that is refused becomes a :class:`~graphmem.models.Refused`
and the others stay. Nothing is ever put in the place of what was refused.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NoReturn, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from graphmem.errors import ReplyRefused
from graphmem.language import reading
from graphmem.language.prompts import Insight, Rating
from graphmem.models import Refused

__all__ = [
    "Indexed",
    "Rated",
    "Shaped",
    "index",
    "normalise_text",
    "parse",
    "parse_importance",
    "rated",
    "read",
    "refusal",
    "shape",
    "shorten",
]

R = TypeVar("R", bound=BaseModel)
Gate = Literal["parse", "shape", "index", "support"]

_REMEDY = "ask again; if it happens often, use a more capable language model"


def normalise_text(text: str) -> str:
    """The form in which two texts are compared for being the same: the only such rule in graphmem.

    Compatibility-normalised, case-folded, white space collapsed, without closing punctuation and outer quotes.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = folded.translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'})
    return " ".join(folded.split()).strip(" \"'").rstrip(" .!?;:,…\"'")


def shorten(text: str, limit: int = 200) -> str:
    """Cut a text for display, to valid text of at most ``limit`` characters.

    Joined emoji, accents and flags are never cut in the middle; what cannot be stored is shown as U+FFFD.
    """
    clean = re.sub("[\x00\ud800-\udfff]", "\ufffd", text)
    if len(clean) <= limit:
        return clean
    end = limit - 1
    while end > 0 and _joins(clean[end - 1], clean[end]):
        end -= 1
    return clean[:end].rstrip() + "…"


def _joins(before: str, after: str) -> bool:
    """Whether two characters belong to one visible sign."""
    if "\u200d" in (before, after) or unicodedata.combining(after) or after in "\ufe0e\ufe0f\u20e3":
        return True
    skin_tone = 0x1F3FB <= ord(after) <= 0x1F3FF
    flag = all(0x1F1E6 <= ord(char) <= 0x1F1FF for char in (before, after))
    return skin_tone or flag or unicodedata.category(after) in {"Mn", "Me", "Mc"}


def refusal(error: ReplyRefused, raw: str) -> Refused:
    """A refused reply as a report keeps it."""
    return Refused(gate=cast("Gate", error.gate), reason=str(error), item=shorten(raw))


# --- parse -----------------------------------------------------------------------------------------------------

_OPENERS = re.compile(r"\{(?=\s*[\"'}])|\[(?=\s*[\[{\"'\]\-\dtfn])")
_BULLET = re.compile(r"^\s*(?:[-*•–]\s+|\(?\d{1,4}\s*[.):]\s*)")
_OPEN_BECAUSE = re.compile(r"[(\[]\s*because\s+of\b", re.IGNORECASE)


def _refuse(reason: str, gate: Gate = "parse") -> NoReturn:
    raise ReplyRefused(reason, gate=gate, remedy=_REMEDY)


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
    structured = [value for value in values if not isinstance(value, list) or _holds_items(value)]
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
        found.append((not _is_schema(value), end - start, start, value))
        position = end
    found.sort(key=lambda entry: entry[:3], reverse=True)
    return [entry[3] for entry in found], problem


def _closing(text: str, start: int) -> int | None:
    """The position after the bracket that closes the one at ``start``; None when the text ends before."""
    depth = 0
    in_string = False
    for match in re.compile(r'\\.|["{}\[\]]', re.DOTALL).finditer(text, start):
        token = match[0]
        if token == '"':
            in_string = not in_string
        elif not in_string and token in "{[":
            depth += 1
        elif not in_string and token in "}]":
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


# --- shape -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shaped(Generic[R]):
    """A validated reply and the items that were refused from it."""

    value: R
    refused: tuple[Refused, ...] = ()


def shape(value: object, reply_model: type[R]) -> Shaped[R]:
    """Check a parsed reply against its model, item by item.

    A bare list stands for the model's only list, and a single item for a list of one. An item that is refused takes
    nothing else with it.

    Raises:
        ReplyRefused: Gate ``shape``: not the fields of the model, the schema itself, or no item left; the reason
            names the field.
    """
    if _is_schema(value):
        _refuse("the reply repeats the schema instead of filling it in", "shape")
    name, item_type = _list_field(reply_model)
    if name is None:
        try:
            return Shaped(reply_model.model_validate(value))
        except ValidationError as error:
            _refuse(_reason(error, value), "shape")
    items = _items(value, name, item_type)
    adapter: TypeAdapter[Any] = TypeAdapter(item_type)
    kept: list[Any] = []
    refused: list[Refused] = []
    seen: set[str] = set()
    for number, item in enumerate(items):
        try:
            valid = adapter.validate_python(item)
        except ValidationError as error:
            reason = _reason(error, item, f"{name}.{number}")
            refused.append(Refused(gate="shape", reason=reason, item=_shown(item)))
            continue
        text = normalise_text(valid.text if isinstance(valid, Insight) else valid) if name != "ratings" else ""
        if text and text in seen:
            reason = f"{name}.{number}: repeats an earlier one"
            refused.append(Refused(gate="shape", reason=reason, item=_shown(item)))
            continue
        seen.add(text)
        kept.append(valid)
    if refused and not kept:
        _refuse(refused[0].reason, "shape")
    return Shaped(reply_model.model_validate({name: kept}), tuple(refused))


def _list_field(reply_model: type[BaseModel]) -> tuple[str | None, Any]:
    lists = [
        (name, get_args(field.annotation)[0])
        for name, field in reply_model.model_fields.items()
        if get_origin(field.annotation) is list
    ]
    return lists[0] if len(lists) == 1 and len(reply_model.model_fields) == 1 else (None, None)


def _items(value: object, name: str, item_type: Any) -> list[object]:
    if isinstance(value, list):
        return cast("list[object]", value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        if name in fields:
            items = fields[name]
            if not isinstance(items, list):
                _refuse(f"{name}: is {_named(items)}, not a list", "shape")
            return cast("list[object]", items)
        if isinstance(item_type, type) and issubclass(item_type, BaseModel):
            required = {key for key, field in item_type.model_fields.items() if field.is_required()}
            if required <= fields.keys():
                return [dict(fields)]
        _refuse(f"{name}: the field is missing", "shape")
    return _refuse(f"{name}: expected an object with this list, got {_named(value)}", "shape")


def _is_schema(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    keys = cast("Mapping[object, object]", value).keys()
    return "$schema" in keys or "$defs" in keys or ("properties" in keys and bool({"type", "title", "required"} & keys))


def _named(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "an object")


def _reason(error: ValidationError, value: object, prefix: str = "") -> str:
    """The first complaint in one readable line, with the field that it is about."""
    if prefix and not isinstance(value, dict | str | int):
        return f"{prefix}: is {_named(value)}, not an item"
    first = error.errors(include_url=False)[0]
    field = ".".join([*([prefix] if prefix else []), *(str(part) for part in first["loc"])])
    message = "the field is missing" if first["type"] == "missing" else first["msg"]
    message = message.removeprefix("Value error, ")
    return shorten(f"{field}: {message}" if field else message, 300)


def _shown(item: object) -> str:
    return shorten(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str))


def read(raw: str, reply_model: type[R]) -> Shaped[R]:
    """Parse and shape a reply.

    Raises:
        ReplyRefused: By either gate.
    """
    return shape(parse(raw), reply_model)


# --- importance ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rated:
    """Ratings by the number of their memory, and what was refused."""

    importance: dict[int, int]
    refused: tuple[Refused, ...] = ()


def parse_importance(raw: object) -> int | Refused:
    """Read one rating in any form: ``8/10``, ``Rating: 7``, ``**9**``, ``seven``, ``{"importance": "6"}``.

    Returns:
        An integer from 1 to 10, halves rounded up (7.5 is 8); a refusal when there is none, when it lies outside, or
        when several numbers compete. No default is ever made up here.
    """
    try:
        return reading.importance(raw)
    except ValueError as error:
        return Refused(gate="shape", reason=f"importance: {error}", item=_shown(raw))


def rated(ratings: Sequence[Rating], count: int) -> Rated:
    """Match ratings with the memories 1 to ``count`` by number.

    A number that was not asked for is refused, and so are ratings of one memory that differ.
    """
    found: dict[int, int] = {}
    refused: list[Refused] = []
    differing: set[int] = set()
    for rating in ratings:
        item = f"{rating.number}: {rating.importance}"
        if not 1 <= rating.number <= count:
            refused.append(Refused(gate="index", reason=f"rates {rating.number}, but 1–{count} were shown", item=item))
        elif found.setdefault(rating.number, rating.importance) != rating.importance:
            differing.add(rating.number)
            refused.append(Refused(gate="index", reason=f"rates {rating.number} twice, differently", item=item))
    return Rated({number: value for number, value in found.items() if number not in differing}, tuple(refused))


# --- index -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Indexed:
    """An insight whose citations all exist."""

    text: str
    """Without a trailing ``(because of …)``."""
    evidence: tuple[int, ...]
    """Numbers that were shown, each once, in the order given."""
    dropped: tuple[int, ...] = ()
    """Numbers that were not shown."""
    notes: tuple[Refused, ...] = ()
    """What a report should say about it: dropped citations, and text and field that disagree."""


def index(insight: Insight, shown: Collection[int]) -> Indexed | Refused:
    """Resolve the citations of an insight against the numbers that the prompt showed (1-based).

    Where the text ends in ``(because of …)`` and the field names others, the field wins and a note says so.

    Returns:
        The insight with the citations that exist, or a refusal when none does.
    """
    text, cited = reading.split_because(insight.text)
    item = shorten(insight.text)
    if not text:
        return Refused(gate="shape", reason="text: is empty but for its citations", item=item)
    evidence = tuple(dict.fromkeys(number for number in insight.evidence if number in shown))
    dropped = tuple(dict.fromkeys(number for number in insight.evidence if number not in shown))
    valid = _spans(shown)
    if not evidence:
        reason = f"cites {_listed(dropped)}, but {valid} were shown" if dropped else "cites nothing"
        return Refused(gate="index", reason=reason, item=item)
    notes: list[Refused] = []
    if dropped:
        reason = f"cites {_listed(dropped)}, but {valid} were shown; dropped"
        notes.append(Refused(gate="index", reason=reason, item=item))
    if cited is not None and not _same_numbers(cited, insight.evidence):
        reason = f"the text says (because of {cited.strip()}), the field {_listed(insight.evidence)}; the field counts"
        notes.append(Refused(gate="index", reason=shorten(reason, 300), item=item))
    return Indexed(text, evidence, dropped, tuple(notes))


def _same_numbers(cited: str, evidence: Sequence[int]) -> bool:
    try:
        return set(reading.numbers(cited)) == set(evidence)
    except ValueError:
        return False


def _listed(numbers: Sequence[int]) -> str:
    text = ", ".join(str(number) for number in numbers[:8])
    return text + ", …" if len(numbers) > 8 else text


def _spans(numbers: Collection[int]) -> str:
    """``1–5`` or ``1–3, 7``."""

    def spans() -> Iterator[str]:
        first = last = None
        for number in sorted(numbers):
            if last is not None and number == last + 1:
                last = number
                continue
            if first is not None and last is not None:
                yield str(first) if first == last else f"{first}–{last}"
            first = last = number
        if first is not None and last is not None:
            yield str(first) if first == last else f"{first}–{last}"

    return ", ".join(spans()) or "none"
