"""The support gate measured on labelled pairs; docs/support.md tells how they were written and what came of it."""

from __future__ import annotations

import logging
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphmem.language.base import Statement
from graphmem.language.gates import support
from graphmem.models import Refused

from .stories import statement

_log = logging.getLogger(__name__)

PAIRS = Path(__file__).parent / "pairs"
TRUE = ("paraphrase", "generalises", "joins")
SWAPPED = ("name", "number", "negation")
HALVES = ("development", "held_out")


def cases(half: str) -> list[dict[str, Any]]:
    return tomllib.loads((PAIRS / f"{half}.toml").read_text(encoding="utf-8"))["case"]


def shown(memories: list[Any]) -> tuple[Statement, ...]:
    return tuple(
        statement(number, memory) if isinstance(memory, str) else statement(number, memory[1], source=memory[0])
        for number, memory in enumerate(memories, start=1)
    )


def judged(half: str) -> tuple[Counter[str], Counter[str]]:
    """By category, how many pairs there are and how many the gate judged rightly."""
    pairs: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for case in cases(half):
        memories = shown(case["memories"])
        for category, texts in case.items():
            if category == "memories":
                continue
            for text in texts:
                pairs[category] += 1
                right[category] += isinstance(support(text, memories), Refused) == (category not in TRUE)
    return pairs, right


def test_there_are_at_least_200_pairs_in_each_half() -> None:
    for half in HALVES:
        pairs, _ = judged(half)
        assert pairs.total() > 200
        assert all(pairs[category] >= 20 for category in (*TRUE, *SWAPPED))


@pytest.mark.parametrize("half", HALVES)
def test_it_keeps_what_is_true_and_refuses_what_was_swapped(half: str) -> None:
    pairs, right = judged(half)
    for category in sorted(pairs):
        _log.info("%-12s %-12s %3d of %3d", half, category, right[category], pairs[category])
    for categories in (TRUE, SWAPPED):
        count = sum(pairs[category] for category in categories)
        assert sum(right[category] for category in categories) >= 0.9 * count, categories
