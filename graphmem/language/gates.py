"""What a reply passes before anything of it is stored: parse, shape, index, support.

Each gate is a pure function with one job. A reply that is refused as a whole raises
:class:`~graphmem.errors.ReplyRefused`; a single item that is refused becomes a
:class:`~graphmem.models.Refused` and the others stay. Nothing is ever put in the place of what was refused.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NoReturn, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from graphmem.errors import ReplyRefused
from graphmem.language import reading
from graphmem.language.parsing import REMEDY, is_schema, parse
from graphmem.language.prompts import Insight, Rating
from graphmem.language.support import support
from graphmem.language.text import normalise_text, shorten
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
    "support",
]

RAW_KEPT = 2_000
"""Characters of a reply refused as a whole that are kept."""
R = TypeVar("R", bound=BaseModel)
Gate = Literal["parse", "shape", "index", "support"]


def _refuse(reason: str) -> NoReturn:
    raise ReplyRefused(reason, gate="shape", remedy=REMEDY)


def refusal(error: ReplyRefused, raw: str) -> Refused:
    """A refused reply as a report keeps it; a caller's own model may name a gate that there is not."""
    gate: Gate = cast("Gate", error.gate) if error.gate in get_args(Gate) else "shape"
    return Refused(gate=gate, reason=str(error), item=shorten(raw, RAW_KEPT))


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
    if is_schema(value):
        _refuse("the reply repeats the schema instead of filling it in")
    name, item_type = _list_field(reply_model)
    if name is None:
        try:
            return Shaped(reply_model.model_validate(value))
        except ValidationError as error:
            _refuse(_reason(error, value))
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
        said = valid.text if isinstance(valid, Insight) else valid
        text = normalise_text(said) if isinstance(said, str) else ""
        if text and text in seen:
            reason = f"{name}.{number}: repeats an earlier one"
            refused.append(Refused(gate="shape", reason=reason, item=_shown(item)))
            continue
        seen.add(text)
        kept.append(valid)
    if refused and not kept:
        _refuse(refused[0].reason)
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
                _refuse(f"{name}: is {_named(items)}, not a list")
            return cast("list[object]", items)
        if isinstance(item_type, type) and issubclass(item_type, BaseModel):
            required = {key for key, field in item_type.model_fields.items() if field.is_required()}
            if required <= fields.keys():
                return [dict(fields)]
        _refuse(f"{name}: the field is missing")
    return _refuse(f"{name}: expected an object with this list, got {_named(value)}")


def _named(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


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
