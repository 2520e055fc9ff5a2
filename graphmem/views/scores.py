"""What a retrieval found, with every part of each score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.models import Hits, Part
from graphmem.views.text import moment, one_line, short_ids, shortened
from graphmem.views.tree import kind_words

if TYPE_CHECKING:
    from rich.table import Table

_TEXT_LENGTH = 400


def scores(hits: Hits) -> Table:
    """Hits as a table: each part of a score as measured, as scaled to [0, 1], and its weight."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("score", justify="right", no_wrap=True)
    for name in ("relevance", "recency", "importance"):
        table.add_column(Text.assemble(name, ("\nraw → part × weight", "dim")), justify="right", no_wrap=True)
    table.add_column("memory", ratio=1)
    ids = short_ids(hit.memory.id for hit in hits)
    for hit in hits:
        memory = hit.memory
        said_by = memory.source if memory.type == "observation" and memory.source is not None else None
        head = Text.assemble((kind_words(memory), "bold"), " ", (ids[memory.id], "cyan"))
        head.append(f"  {moment(memory.occurred_at)} UTC", "dim")
        if memory.status != "active":
            head.append(f"  {memory.status}", "yellow")
        if hit.occurrences > 1:
            head.append(f"  ×{hit.occurrences}", "magenta")
        text = f"{one_line(said_by)}: {memory.text}" if said_by else memory.text
        table.add_row(
            f"{hit.score:.3f}",
            _part(hit.relevance),
            _part(hit.recency),
            _part(hit.importance),
            Text.assemble(head, "\n", shortened(text, _TEXT_LENGTH)),
        )
    return table


def _part(part: Part) -> str:
    raw = "none" if part.raw is None else f"{part.raw:.3f}"
    return f"{raw} → {part.normalised:.3f} × {part.weight:g}"
