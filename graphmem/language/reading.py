"""How numbers in a reply are read: citations and importance ratings.

Both are read completely or refused, never in part: ``1-3`` is 1, 2 and 3, and ``-1`` keeps its minus.
Every function raises ``ValueError`` with a reason, so that reply models can use them as validators.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import cast

_LONGEST_RANGE = 100
_MINUS = "-−–—‐‑"

_SEPARATOR = re.compile(r"\s*(?:[,;&+、，；]|\band\b)\s*", re.IGNORECASE)
_CITATION_WORD = r"(?:observations?|statements?|memor(?:y|ies)|insights?|reflections?|numbers?|items?|nos?\.?)"
_ONE = re.compile(rf"^(?:{_CITATION_WORD}\s*)?[#\[]?\s*([{_MINUS}]?\d{{1,9}})\s*\]?\.?$", re.IGNORECASE)
_RANGE = re.compile(
    rf"^(?:{_CITATION_WORD}\s*)?#?(\d{{1,9}})\s*(?:[{_MINUS}]|to|through|\.\.)\s*#?(\d{{1,9}})\.?$",
    re.IGNORECASE,
)

BECAUSE = re.compile(r"\s*[(\[]\s*because\s+of:?\s*([^()\[\]]*)[)\]]", re.IGNORECASE)
"""The citation of the bracketed form that Park et al. asked for: ``insight (because of 1, 5, 3)``."""
_TRAILING_BECAUSE = re.compile(BECAUSE.pattern + r"\s*([.!?]?)\s*$", re.IGNORECASE)


def numbers(text: str) -> list[int]:
    """Read a list of citations such as ``1, 5 and 3``, ``observations 1 and 3`` or ``1-3``.

    Raises:
        ValueError: When any part of it is not a whole number or a rising range of at most 100.
    """
    found: list[int] = []
    for part in _SEPARATOR.split(text.strip()):
        if not part:
            continue
        if match := _ONE.match(part):
            found.append(int(re.sub(f"[{_MINUS}]", "-", match[1])))
        elif match := _RANGE.match(part):
            first, last = int(match[1]), int(match[2])
            if not first <= last < first + _LONGEST_RANGE:
                raise ValueError(f"cannot read {part[:40]!r} as a range of citations")
            found.extend(range(first, last + 1))
        else:
            raise ValueError(f"cannot read {part[:40]!r} as a citation")
    return found


def evidence(value: object) -> list[int]:
    """Read the citations of an insight: a list of numbers, or what :func:`numbers` reads.

    Raises:
        ValueError: When any of them cannot be read.
    """
    if isinstance(value, str):
        return numbers(value)
    if isinstance(value, bool) or value is None:
        raise ValueError("is not a list of numbers")
    if isinstance(value, int | float):
        return [_whole(value)]
    if not isinstance(value, Sequence):
        raise ValueError("is not a list of numbers")
    found: list[int] = []
    for item in cast("Sequence[object]", value):
        if isinstance(item, str):
            found.extend(numbers(item))
        elif isinstance(item, int | float) and not isinstance(item, bool):
            found.append(_whole(item))
        else:
            raise ValueError(f"{type(item).__name__} is not a citation")
    return found


def _whole(value: float) -> int:
    if not math.isfinite(value) or value != int(value):
        raise ValueError(f"{value} is not a whole number")
    return int(value)


def split_because(text: str) -> tuple[str, str | None]:
    """Take trailing ``(because of …)`` groups off an insight.

    Returns:
        The text without them, and what the last one named; None when there was none.
    """
    cited: str | None = None
    while match := _TRAILING_BECAUSE.search(text):
        cited = match[1] if cited is None else cited
        text = text[: match.start()].rstrip() + match[2]
    return text.strip(), cited


# --- importance ------------------------------------------------------------------------------------------------

_WORDS = {
    word: value
    for value, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=1
    )
}
_NUMBER = rf"[{_MINUS}]?\d{{1,6}}(?:[.,]\d{{1,6}})?"
_SCALE = re.compile(r"(?:from|of|between)?\s*\(?\b1\s*(?:[-–—]|to|and)\s*10\b\)?", re.IGNORECASE)
_OUT_OF = re.compile(rf"({_NUMBER})\s*(?:/|out\s+of|of)\s*(\d{{1,6}})", re.IGNORECASE)
_LABELLED = re.compile(
    rf"\b(?:rating|importance|score|poignancy|rate)\b[^\w\n{_MINUS}]*(?:(?:is|this|it|as|a|an|of)\b[^\w\n{_MINUS}]*)*"
    rf"({_NUMBER}|{'|'.join(_WORDS)})\b(?!\s*[%\w])",
    re.IGNORECASE,
)
_ANY = re.compile(
    rf"(?<![\w.,])({_NUMBER}|{'|'.join(_WORDS)})(?![\w%])(?!\s+(?:hundred|thousand|million)\b)", re.IGNORECASE
)
_NAMES = ("importance", "rating", "score", "poignancy", "value")


def importance(value: object) -> int:
    """Read a rating from 1 to 10 in any form that models write it.

    Halves are rounded up: 7.5 is 8. What lies outside 1–10 is refused before rounding, and so is a reply that
    names several numbers without saying which one is the rating.

    Raises:
        ValueError: When there is no rating, or no single one.
    """
    if isinstance(value, bool) or value is None:
        raise ValueError("is not a rating")
    if isinstance(value, int | float):
        return _rounded(float(value) if abs(value) < 1e6 else math.inf)
    if isinstance(value, str):
        return _importance_in(unicodedata.normalize("NFKC", value[:10_000]))
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        named = [fields[name] for name in _NAMES if name in fields]
        if len(named) == 1 and not isinstance(named[0], Mapping | list):
            return importance(named[0])
    raise ValueError("is not a rating")


def _importance_in(text: str) -> int:
    stripped = text.strip().strip("`").removeprefix("json").strip()
    if stripped.startswith("{"):
        try:
            return importance(cast("object", json.loads(stripped)))
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError("holds JSON that cannot be read") from error
    lines = [line for line in stripped.splitlines() if line.strip(" \t*_`#>-")]
    if not lines:
        raise ValueError("is empty")
    for line in lines:
        plain = re.sub(r"[*_`\"']", "", line)
        if match := _OUT_OF.search(plain):
            if match[2] != "10":
                raise ValueError(f"{match[0]!r} is not on the scale from 1 to 10")
            return _rounded(_value(match[1]))
        plain = _SCALE.sub(" ", plain)
        if match := _LABELLED.search(plain):
            following = plain[match.end() :]
            if re.match(rf"\s*(?:[{_MINUS}]|or|to)\s*\d", following):
                raise ValueError(f"{line.strip()[:60]!r} names more than one rating")
            return _rounded(_value(match[1]))
        found = [_value(match[1]) for match in _ANY.finditer(plain)]
        if len(found) == 1 or (
            found and re.match(rf"\s*{_NUMBER}(?:\s*[.:)](?!\d)|,?\s+(?:because|since|as)\b)", plain)
        ):
            return _rounded(found[0])
        if found:
            raise ValueError(f"{line.strip()[:60]!r} names more than one number")
    raise ValueError(f"{lines[0].strip()[:60]!r} holds no rating")


def _value(text: str) -> float:
    word = _WORDS.get(text.casefold())
    if word is not None:
        return float(word)
    return float(re.sub(f"[{_MINUS}]", "-", text).replace(",", "."))


def _rounded(value: float) -> int:
    if not 1 <= value <= 10:
        raise ValueError(f"{value:g} is outside 1–10")
    return math.floor(value + 0.5)


# --- minutes ---------------------------------------------------------------------------------------------------

_LASTS = re.compile(r"-?\d+(?:\.\d+)?")
_HOURS = re.compile(r"\d\s*(?:h\b|hours?|std|stunden?|時間)")


def minutes(value: object) -> int:
    """Read how long something lasts, in minutes: ``30``, ``"30 minutes"``, ``"３０分"``, ``"1 hour"``.

    Halves are rounded up. It may be 0 or less, which whoever divides a block refuses.

    Raises:
        ValueError: When it names no number, or several.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("is no number of minutes")
    if isinstance(value, str):
        plain = unicodedata.normalize("NFKC", value).casefold()
        found = _LASTS.findall(plain)
        if len(found) != 1:
            raise ValueError(f"{value.strip()[:40]!r} is no number of minutes")
        value = float(found[0]) * (60 if _HOURS.search(plain) else 1)
    if not math.isfinite(value) or abs(value) > _MOST_MINUTES:
        raise ValueError(f"{value} is no number of minutes")
    return math.floor(value + 0.5)


_MOST_MINUTES = 7 * 24 * 60
"""A week: nothing that a plan is divided into lasts longer."""
