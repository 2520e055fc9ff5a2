"""Cypher as data: every statement is a file under ``cypher/``, loaded by name.

``queries["retrieve/scan"]`` is ``cypher/retrieve/scan.cypher``. A file holds one statement; the ``//`` lines at its
top say what it is for and what it returns, and the store holds it to that. Statements are never formatted: everything
variable is a parameter, and :class:`Query` knows which ones, so that a missing or misspelt one is found before
anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import LiteralString, cast

_PACKAGED = Path(__file__).parents[1] / "_cypher"
_SOURCE = Path(__file__).parents[2] / "cypher"

# A parameter, or something to step over in which a dollar sign means nothing: comments, strings, quoted names.
_TOKENS = re.compile(
    r"""
      //[^\n]* | /\*.*?\*/ | '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" | `[^`]*`
    | \$(?P<name>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.DOTALL,
)


# Columns in the part of a description that begins with "Returns:": names, their type, and whether there may be nothing.
_RETURNS = re.compile(r"\bReturns: (.*)", re.DOTALL)
_NOTES = re.compile(r"\([^)]*\)|\{[^}]*\}")
_COLUMNS = re.compile(
    r"""
    (?:^|[,;]\ )(?P<names>[a-z]\w*(?:,\ [a-z]\w*)*)
    \ (?:LIST<[A-Z<>]+>|MAP|NODE|PATH|STRING|INTEGER|FLOAT|BOOLEAN|ZONED\ DATETIME)
    (?P<nothing>\s+or\ (?:null|empty))?
    """,
    re.VERBOSE,
)


DIALECT = "CYPHER 25\n"
"""What each statement begins with when it is sent; people are shown it without."""


@dataclass(frozen=True)
class Query:
    """One Cypher statement."""

    name: str
    text: LiteralString
    description: str
    parameters: frozenset[str]
    columns: Mapping[str, bool]
    """What each row has, by name: whether there is always a value. Only ``or null`` and ``or empty`` say otherwise."""

    def whole(self, row: Mapping[str, object]) -> bool:
        """Whether a row has a value wherever the description promises one; a map of nothing is none."""
        return all(_is_value(row[name]) for name, always in self.columns.items() if always)

    def check(self, given: Mapping[str, object]) -> None:
        """Refuse parameters that the statement lacks, or does not know.

        Raises:
            TypeError: A bug in graphmem, never the caller's.
        """
        missing = sorted(self.parameters - given.keys())
        unknown = sorted(given.keys() - self.parameters)
        if missing or unknown:
            raise TypeError(f"query {self.name}: missing parameters {missing}, unknown parameters {unknown}")

    def filled(self, given: Mapping[str, str | Sequence[str]]) -> str:
        """The statement for a person to run: each parameter replaced by its value, written as Cypher."""
        self.check(given)

        def literal(match: re.Match[str]) -> str:
            name = match["name"]
            return _literal(given[name]) if name else match[0]

        return _TOKENS.sub(literal, self.text.removeprefix(DIALECT))


def _is_value(value: object) -> bool:
    if isinstance(value, dict):
        return any(item is not None for item in cast("dict[str, object]", value).values())
    return value is not None


def _literal(value: str | Sequence[str]) -> str:
    """A string or a list of strings in Cypher.

    What is not plain is written as its code: it cannot end the string, steer a terminal, end the argument where the
    statement stands in the address of Neo4j Browser, or be lost where the statement is shown on one line.
    """
    if not isinstance(value, str):
        return f"[{', '.join(map(_literal, value))}]"
    plain = "".join(_ESCAPED.get(char) or (char if char.isprintable() else _code(char)) for char in value)
    return "'" + plain.replace("  ", " " + _code(" ")) + "'"


# A quote or backslash by its code would be read as that character before the string is: Cypher 5 decodes codes first.
_ESCAPED = {"'": "\\'", "\\": "\\\\", "&": "\\u0026", "#": "\\u0023"}


def _code(char: str) -> str:
    """A character as Cypher's escapes, one for each unit of UTF-16."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2], 'big'):04x}" for at in range(0, len(units), 2))


def parse(name: str, source: str) -> Query:
    """Read one file's text: its leading comment is the description, the rest the statement."""
    lines = source.strip().splitlines()
    head = 0
    while head < len(lines) and lines[head].startswith("//"):
        head += 1
    description = "\n".join(line.removeprefix("//").strip() for line in lines[:head])
    # SEARCH needs Cypher 25, which a server of 2026.09 does not speak by default.
    text = DIALECT + "\n".join(lines[head:]).strip()
    parameters = frozenset(match["name"] for match in _TOKENS.finditer(text) if match["name"])
    returns = _RETURNS.search(" ".join(description.split("\n")))
    columns = {
        column: match["nothing"] is None
        for match in _COLUMNS.finditer(_NOTES.sub("", returns[1]) if returns else "")
        for column in match["names"].split(", ")
    }
    # The one cast to LiteralString: the text comes from the package's own files, never from a caller.
    return Query(name, cast(LiteralString, text), description, parameters, columns)


class Queries(Mapping[str, Query]):
    """All statements, by name without the extension."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def _all(self) -> dict[str, Query]:
        files = sorted(self.root.rglob("*.cypher"))
        if not files:
            raise FileNotFoundError(f"no query files under {self.root}")
        names = [path.relative_to(self.root).with_suffix("").as_posix() for path in files]
        return {name: parse(name, path.read_text("utf-8")) for name, path in zip(names, files, strict=True)}

    def __getitem__(self, name: str) -> Query:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


# An installed wheel carries the files inside the package; a checkout keeps them at the top level.
queries = Queries(_PACKAGED if _PACKAGED.is_dir() else _SOURCE)
