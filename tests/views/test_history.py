"""History as lines: what a person reads of each kind of event."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from graphmem.models import HistoryEvent, HistoryType
from graphmem.views.history import history

AT = datetime(2026, 3, 1, 12, 5, tzinfo=UTC)
ID = "0199aa20c1f2b8d6e3f4a5b6"


def line(**fields: Any) -> str:
    (shown,) = history([HistoryEvent(at=AT, **fields)])
    assert shown.plain.startswith("2026-03-01 12:05 UTC  ")
    return shown.plain.removeprefix("2026-03-01 12:05 UTC  ")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"type": "observed", "verb": "observe", "by": "caller"}, "observed"),
        (
            {"type": "inferred", "verb": "reflect", "by": "gpt", "run_id": "r1"},
            "inferred (reflect, by gpt, run r1)",
        ),
        (
            {"type": "superseded", "verb": "supersede", "by": "caller", "mode": "update", "reason": "sold", "other": ID,
             "other_text": "I drive a Kia"},
            "superseded by 0199aa20c1f2b8 “I drive a Kia” (update): sold",
        ),
        ({"type": "supersedes", "mode": "correction", "other": "a", "other_text": "x"},
         "took the place of a “x” (correction)"),
        ({"type": "stale", "verb": "retract", "by": "caller", "reason": "no", "other": "a", "other_text": "x"},
         "turned stale as a “x” was retracted: no"),
        ({"type": "stale", "other": "a", "other_text": "x"}, "turned stale as a “x” turned stale"),
        ({"type": "stale", "verb": "recompute", "by": "gpt", "other": "a", "other_text": "x"},
         "turned stale as a “x” was changed by recompute (by gpt)"),
        ({"type": "active", "other": "a", "other_text": "x"}, "active again as a “x” holds"),
        ({"type": "confirmed", "verb": "recompute", "by": "gpt"}, "confirmed (recompute, by gpt)"),
        ({"type": "retracted", "verb": "restore", "by": "caller", "other": "a", "other_text": "x"},
         "retracted as a “x” was restored"),
        ({"type": "restored", "verb": "restore", "by": "caller", "reason": "a joke"}, "restored: a joke"),
        ({"type": "gave_way", "verb": "restore", "other": "a", "other_text": None}, "gave way to a “”"),
        ({"type": "changed", "verb": "dreamt", "reason": "of rain"}, "changed by dreamt: of rain"),
    ],
)  # fmt: skip
def test_what_is_said(fields: dict[str, Any], words: str) -> None:
    assert line(**fields) == words


@pytest.mark.parametrize("type_", get_args(HistoryType))
def test_nothing_from_outside_steers_the_terminal(type_: HistoryType) -> None:
    hostile = "\x1b[2J\u202e[bold]x[/]\n"
    shown = line(
        type=type_, verb=hostile, by=hostile, reason=hostile, other=hostile, other_text=hostile, run_id=hostile
    )
    assert not set(shown) & set("\x1b\u202e\n")
