"""Memories in lists, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.models import AnyMemory
from graphmem.views.text import moment, one_line, shortened
from graphmem.views.tree import ENDED, kind_words

if TYPE_CHECKING:
    from rich.text import Text

_TEXT_LENGTH = 200


def plain_line(memory: AnyMemory, prefix: str = "") -> Text:
    """What it is, its id and its text, behind a prefix: in reports, which say the rest."""
    from rich.text import Text

    return Text.assemble(
        prefix,
        (kind_words(memory), "bold"),
        " ",
        (one_line(memory.id), "cyan"),
        f" {_said(memory)}",
    )


def full_line(memory: AnyMemory) -> Text:
    """When it happened, what it is, its id, its status unless it is active, importance, who said it and the text."""
    from rich.text import Text

    source = memory.source if memory.type == "observation" else None
    line = Text.assemble(
        (f"{moment(memory.occurred_at)} ", "dim"), (kind_words(memory), "bold"), " ", (one_line(memory.id), "cyan")
    )
    if memory.status != "active":
        line.append(f" [{memory.status}]", "red" if memory.status in ENDED else "yellow")
    line.append(f" {memory.importance} ", "dim")
    return line.append(f"{shortened(source, _TEXT_LENGTH)}: {_said(memory)}" if source else _said(memory))


def _said(memory: AnyMemory) -> str:
    """Its text; of a forgotten memory there is none."""
    return "(forgotten)" if memory.status == "forgotten" else shortened(memory.text, _TEXT_LENGTH)
