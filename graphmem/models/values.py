"""Field types and the frozen base of every value; times are aware and in UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from graphmem.errors import InvalidInput, InvalidText, InvalidTime

MAX_TEXT = 100_000
"""Longest text of a memory, in characters."""


MAX_ID = 512
"""Longest id or key, in characters: both are indexed, and Neo4j refuses index entries over about 8 kB."""


MAX_K = 10_000
"""Most memories that one retrieval returns; a larger ``k`` is refused."""


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: str) -> str:
    """Refuse what Neo4j cannot give back unchanged: NUL and lone surrogates."""
    if found := _UNSTORABLE.search(value):
        raise ValueError(f"holds the character U+{ord(found[0]):04X}, which cannot be stored")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty or blank")
    return value


def _plain_integer(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")
    if isinstance(value, float) and not value.is_integer():
        raise ValueError("is not a whole number")
    return int(value)


Text = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_TEXT),
    AfterValidator(_not_blank),
    AfterValidator(storable),
]


Id = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_ID),
    AfterValidator(_not_blank),
    AfterValidator(storable),
]


Label = Annotated[
    str,
    StringConstraints(strict=True, max_length=MAX_ID),
    AfterValidator(_not_blank),
    AfterValidator(storable),
]
"""A short name: source, session, place, subject, keyword."""


Importance = Annotated[int, BeforeValidator(_plain_integer), Field(ge=1, le=10)]
"""1 is mundane, 10 poignant (Park et al. 2023, section 4.1)."""


Status = Literal["active", "stale", "archived", "superseded", "retracted", "forgotten"]


ImportanceBy = Literal["caller", "model", "rule", "default"]


Kind = Literal["event", "utterance", "fact", "insight", "summary", "procedure", "day", "hour", "step"]


Mode = Literal["correction", "update"]


class Value(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


V = TypeVar("V", bound=BaseModel)


def validated(model: type[V], data: Mapping[str, Any]) -> V:
    """Build a value from what a caller gave.

    Raises:
        InvalidText: When the text is refused.
        InvalidTime: When a time is refused.
        InvalidInput: When anything else is; the message names the field.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or model.__name__
        message = f"{field}: {first['msg'].removeprefix('Value error, ')}"
        kind = InvalidInput
        if field == "text":
            kind = InvalidText
        elif field in {"occurred_at", "now", "as_of"}:
            kind = InvalidTime
        raise kind(message) from error
