"""A text file cut into passages that each say one thing, with the lines where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

LONGEST = 1_000
"""Characters after which a passage is cut, also within a sentence."""
_SHORT = 50
"""A line shorter than this is no wrapped one: it ends what it says, as in a list or a diary."""
_END = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|etc|e\.g|i\.e|z\.B|Nr)\.$")
_BEGINS = re.compile(r"\s{4,}|\t|\s*(?:[-*•#>|]|\d+[.)]\s|\d{1,4}[-/.:]\d|\[|\S{1,30}:\s)")
"""How a line begins that goes on with nothing: code, a bullet, a number, a date, a speaker."""


@dataclass(frozen=True)
class Passage:
    """A piece of a text."""

    text: str
    first: int
    """The line where it begins, from 1."""
    last: int
    """The line where it ends."""

    @property
    def lines(self) -> str:
        """Where it stands, for a person."""
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}–{self.last}"


def passages(text: str) -> list[Passage]:
    """Cut a text into sentences, or lines where it has no sentences; none is longer than 1,000 characters."""
    lines = text.splitlines()
    found: list[Passage] = []
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        words = " ".join(line.split())
        if not words:
            found += _sentences(block)
            block = []
            continue
        if block and (len(block[-1][1]) < _SHORT or _BEGINS.match(line)):
            found += _sentences(block)
            block = []
        block.append((number, words))
    return [*found, *_sentences(block)]


def _sentences(block: list[tuple[int, str]]) -> Iterator[Passage]:
    """The sentences of lines that belong together."""
    text, starts = "", list[tuple[int, int]]()
    for number, words in block:
        starts.append((len(text), number))
        text += words + " "
    cuts = [0]
    for match in _END.finditer(text):
        if not _ABBREVIATION.search(text[: match.end()]):
            cuts.append(match.end())
    cuts.append(len(text))
    for begin, end in pairwise(cuts):
        for at in range(begin, end, LONGEST):
            piece = text[at : min(end, at + LONGEST)]
            if stripped := piece.strip():
                inside = at + piece.index(stripped)
                yield Passage(stripped, _line(starts, inside), _line(starts, inside + len(stripped) - 1))


def _line(starts: list[tuple[int, int]], at: int) -> int:
    return max((start, number) for start, number in starts if start <= at)[1]
