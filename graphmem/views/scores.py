"""What a retrieval found, with every part of each score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.models import Hits, Part
from graphmem.views.text import moment, one_line, short_ids, shortened
from graphmem.views.tree import kind_words

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

_TEXT_LENGTH = 400


_NAMES = ("relevance", "recency", "importance")
_WIDE = 110
"""Columns from which each part of a score has a column of its own: with fewer, the memory would have none."""


@dataclass(frozen=True)
class Scores:
    """Hits as a table: each part of a score as measured, as scaled to [0, 1], and its weight."""

    hits: Hits

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        wide = options.max_width >= _WIDE
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("score", justify="right", no_wrap=True)
        for name in _NAMES if wide else ():
            table.add_column(Text.assemble(name, ("\nraw → part × weight", "dim")), justify="right", no_wrap=True)
        table.add_column("memory", ratio=1)
        ids = short_ids(hit.memory.id for hit in self.hits)
        for hit in self.hits:
            memory = hit.memory
            said_by = memory.source if memory.type == "observation" and memory.source is not None else None
            head = Text.assemble((kind_words(memory), "bold"), " ", (ids[memory.id], "cyan"))
            head.append(f"  {moment(memory.occurred_at)} UTC", "dim")
            if memory.status != "active":
                head.append(f"  {memory.status}", "yellow")
            if hit.occurrences > 1:
                head.append(f"  ×{hit.occurrences}", "magenta")
            text = f"{one_line(said_by)}: {memory.text}" if said_by else memory.text
            parts = [_part(part) for part in (hit.relevance, hit.recency, hit.importance)]
            below = () if wide else [(f"\n{name} {part}", "dim") for name, part in zip(_NAMES, parts, strict=True)]
            table.add_row(
                f"{hit.score:.3f}",
                *(parts if wide else ()),
                Text.assemble(head, "\n", shortened(text, _TEXT_LENGTH), *below),
            )
        yield table


_BAR = 30
"""Columns of the longest bar."""
_SHADES = {
    "relevance": ("█", "cyan"), "recency": ("▓", "green"), "importance": ("▒", "yellow"), "support": ("░", "magenta"),
}  # fmt: skip
"""Each part has a shade as well as a colour, to be told apart in files and by everybody."""


def explained(hits: Hits) -> Table:
    """Hits with what their scores are made of: a bar a hit, as long as its score, and each part as numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column(Text("  ").join(Text(f"{shade} {name}", colour) for name, (shade, colour) in _SHADES.items()))
    table.add_column("memory", ratio=1)
    longest = max((hit.score for hit in hits), default=0.0)
    ids = short_ids(hit.memory.id for hit in hits)
    for hit in hits:
        parts = {"relevance": hit.relevance, "recency": hit.recency, "importance": hit.importance}
        if hit.support is not None:
            parts["support"] = hit.support
        bar = Text()
        drawn, so_far = 0, 0.0
        for name, part in parts.items():
            so_far += part.contribution
            end = round(_BAR * so_far / longest) if longest > 0 else 0
            bar.append(_SHADES[name][0] * max(0, end - drawn), _SHADES[name][1])
            drawn = max(drawn, end)
        told = [f"{name} {_part(part)} = {part.contribution:.3f}" for name, part in parts.items()]
        if hit.signals is not None:
            told += [
                f"  {name} {_part(part)} = {part.contribution:.3f}"
                for name, part in (
                    ("of it vector", hit.signals.vector),
                    ("of it words", hit.signals.text),
                    ("of it speaker", hit.signals.speaker),
                )
            ]
        head = Text.assemble((kind_words(hit.memory), "bold"), " ", (ids[hit.memory.id], "cyan"))
        text = shortened(hit.memory.text, _TEXT_LENGTH)
        table.add_row(
            f"{hit.score:.3f}",
            Text.assemble(bar, *(Text(f"\n{line}", "dim") for line in told)),
            Text.assemble(head, "\n", text, *(f"\n  because {shortened(g.text, 120)}" for g in hit.evidence)),
        )
    return table


def _part(part: Part) -> str:
    raw = "none" if part.raw is None else f"{part.raw:.3f}"
    return f"{raw} → {part.normalised:.3f} × {part.weight:g}"
