"""Provenance as a tree for the terminal: each insight above the memories it rests on.

The graph of grounds is a directed graph, not a tree: several insights may cite one memory. Each memory is
drawn once, in the first tree that holds it, and referred to everywhere else. That also makes an endless walk
impossible, whatever the graph holds. The layout is made once, as rows of spans; renderings only join them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphmem.models import AnyMemory, Cause, Ground, Provenance, Status, Supersession
from graphmem.views.text import counted, moment, short_ids, shortened

if TYPE_CHECKING:
    from rich.console import Group

Role = Literal["plain", "faint", "kind", "id", "active", "stale", "ended", "archived", "ended-text", "notice"]
"""What a piece of a row is; the renderings choose its looks by it."""

TEXT_LENGTH = 240
"""Most characters of a memory's text on its row."""
_QUOTED_LENGTH = 80
_REFERENCE_LENGTH = 48
_MOST_REASONS = 3
_FAIR_SHARE = 10
"""Rows that each tree gets at least, as long as there is room, when not all of them can be drawn."""

_ROLE_OF_STATUS: dict[Status, Role] = {
    "active": "active",
    "stale": "stale",
    "archived": "archived",
    "superseded": "ended",
    "retracted": "ended",
    "forgotten": "ended",
}
ENDED: frozenset[Status] = frozenset({"superseded", "retracted", "forgotten"})
"""The states of a memory that is no longer held."""

STYLES: dict[Role, str] = {
    "plain": "",
    "faint": "dim",
    "kind": "bold",
    "id": "cyan",
    "active": "green",
    "stale": "yellow",
    "ended": "red",
    "archived": "blue",
    "ended-text": "dim strike",
    "notice": "italic",
}
"""The rich style of each role."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a row; the text is free of control characters."""

    text: str
    role: Role = "plain"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the tree."""

    level: int
    """0 for a root."""
    last: bool
    """Whether no sibling follows."""
    spans: tuple[Span, ...]

    def __str__(self) -> str:
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class Tree:
    """Rows in reading order."""

    rows: tuple[Row, ...]
    drawn: int
    """How many memories are drawn."""
    not_drawn: int
    """How many citations and roots were left out, for depth or limit."""

    def __str__(self) -> str:
        lines: list[str] = []
        guides: list[str] = []
        for row in self.rows:
            if row.level == 0:
                lines.append(str(row))
                continue
            del guides[row.level - 1 :]
            lines.append("".join(guides) + ("└── " if row.last else "├── ") + str(row))
            guides.append("    " if row.last else "│   ")
        return "\n".join(lines)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text
        from rich.tree import Tree as RichTree

        trees: list[RichTree] = []
        branch: list[RichTree] = []
        for row in self.rows:
            # Assembled from spans, never from markup: brackets in a memory's text are only brackets.
            label = Text.assemble(*((span.text, STYLES[span.role]) for span in row.spans))
            if row.level == 0:
                branch = [RichTree(label, guide_style="dim")]
                trees.append(branch[0])
            else:
                del branch[row.level :]
                branch.append(branch[-1].add(label))
        return Group(*trees)


def tree(provenance: Provenance, *, depth: int | None = None, limit: int = 200, ended: bool = False) -> Tree:
    """Lay out what the roots of a provenance rest on.

    Args:
        provenance: From ``agent.explain`` or ``agent.tree``.
        depth: How many levels below the roots are drawn, ≥ 0; None: all.
        limit: Most rows that show a memory, ≥ 1; where that is too few, each root gets its share of them, and
            levels nearer to it come first.
        ended: Whether to draw citations of the past too.
    """
    return _Layout(provenance, ended).tree(depth, limit)


@dataclass(slots=True)
class _Entry:
    """A place in the tree, before it is put into words."""

    level: int
    memory: str = ""
    ground: Ground | None = None
    owner: bool = False
    """Whether the memory itself is drawn here; otherwise it is referred to."""
    last: bool = False
    left_out: int = 0
    """Entries that stand for rows left out: how many."""


class _Layout:
    def __init__(self, provenance: Provenance, ended: bool) -> None:
        self.provenance = provenance
        self.words = StatusWords(provenance)
        self.children: dict[str, list[Ground]] = {}
        for ground in provenance.grounds:
            if ended or ground.until is None:
                self.children.setdefault(ground.source, []).append(ground)

    def tree(self, depth: int | None, limit: int) -> Tree:
        entries = self._entries(depth, limit)
        home = {entry.memory: at for at, entry in enumerate(entries) if entry.owner}
        rows = [Row(entry.level, entry.last, tuple(self._spans(entry, at, home))) for at, entry in enumerate(entries)]
        return Tree(tuple(rows), drawn=len(home), not_drawn=sum(entry.left_out for entry in entries))

    def _entries(self, depth: int | None, limit: int) -> list[_Entry]:
        """Tree by tree; when there is not room for all of it, each tree gets its share, upper levels first."""
        roots = list(dict.fromkeys(self.provenance.roots))
        fits = self._rows_needed(roots, depth) <= limit
        placed = set(roots)
        below: dict[str, list[_Entry]] = {}
        top: list[_Entry] = []
        room = limit
        for at, root in enumerate(roots):
            if room == 0:
                top.append(_Entry(0, left_out=len(roots) - at))
                break
            top.append(_Entry(0, root, owner=True))
            share = room if fits else min(room, max(_FAIR_SHARE, room // (len(roots) - at)))
            room -= 1 + self._grow(root, depth, share - 1, placed, below)
        # Breadth first decided what is drawn and where; depth first is the order in which it is read.
        ordered: list[_Entry] = []
        stack = top[::-1]
        while stack:
            entry = stack.pop()
            ordered.append(entry)
            if entry.owner:
                stack.extend(below.get(entry.memory, [])[::-1])
        return ordered

    def _grow(self, root: str, depth: int | None, room: int, placed: set[str], below: dict[str, list[_Entry]]) -> int:
        """Place what a root rests on into ``below``, at most ``room`` rows; returns how many."""
        used = 0
        queue = deque([(root, 0)])
        while queue:
            memory, level = queue.popleft()
            grounds = self.children.get(memory, [])
            shown = 0 if level == depth else min(room - used, len(grounds))
            used += shown
            entries: list[_Entry] = []
            for ground in grounds[:shown]:
                owner = ground.target not in placed
                entries.append(_Entry(level + 1, ground.target, ground, owner))
                if owner:
                    placed.add(ground.target)
                    queue.append((ground.target, level + 1))
            if shown < len(grounds):
                entries.append(_Entry(level + 1, memory, left_out=len(grounds) - shown))
            if entries:
                entries[-1].last = True
                below[memory] = entries
        return used

    def _rows_needed(self, roots: list[str], depth: int | None) -> int:
        """How many rows all of it takes."""
        seen = set(roots)
        rows = len(roots)
        level, grounds = 0, [ground for root in roots for ground in self.children.get(root, [])]
        while grounds and level != depth:
            rows += len(grounds)
            new = dict.fromkeys(ground.target for ground in grounds if ground.target not in seen)
            seen.update(new)
            level, grounds = level + 1, [ground for target in new for ground in self.children.get(target, [])]
        return rows

    def _spans(self, entry: _Entry, at: int, home: Mapping[str, int]) -> Iterable[Span]:
        if entry.left_out:
            yield self._left_out(entry)
            return
        memory = self.provenance.memories.get(entry.memory)
        short = self.words.short(entry.memory)
        if memory is None:
            yield Span("missing ", "ended")
            yield Span(short, "id")
            yield Span(" is cited but not there", "ended")
            return
        yield Span(f"{kind_words(memory)} ", "kind")
        yield Span(short, "id")
        if not entry.owner:
            found = home.get(entry.memory)
            place = "not drawn" if found is None else "shown above" if found < at else "shown below"
            if memory.status != "active":
                yield Span(f" [{memory.status}]", _ROLE_OF_STATUS[memory.status])
            yield Span(f" {shortened(memory.text, _REFERENCE_LENGTH)} ({place})", "faint")
            yield from self._edge(entry.ground)
            return
        if memory.type != "observation" or memory.status != "active":
            yield Span(f" [{self.words.of(memory.id)}]", _ROLE_OF_STATUS[memory.status])
        if memory.type == "observation" and memory.source is not None:
            yield Span(f" {shortened(memory.source, _REFERENCE_LENGTH)}:", "faint")
        yield Span(
            f" {shortened(memory.text, TEXT_LENGTH)}",
            "ended-text" if memory.status in ENDED else "plain",
        )
        yield from self._edge(entry.ground)

    def _edge(self, ground: Ground | None) -> Iterable[Span]:
        if ground is None:
            return
        if ground.support is not None:
            yield Span(f" (support {ground.support:.2f})", "faint")
        if ground.until is not None:
            yield Span(f" (cited until {moment(ground.until)})", "faint")

    def _left_out(self, entry: _Entry) -> Span:
        if not entry.memory:
            return Span(f"… {counted(entry.left_out, 'more tree')} not drawn", "notice")
        more = counted(entry.left_out, "more memory", "more memories")
        return Span(f"… rests on {more} not drawn", "notice")


class StatusWords:
    """What the status of each memory of a provenance is, and why, in words."""

    def __init__(self, provenance: Provenance) -> None:
        self._memories = provenance.memories
        named = {*provenance.roots, *provenance.memories}
        named.update(edge.newer for edge in provenance.supersessions)
        named.update(cause.because for cause in provenance.causes)
        named.update(ground.target for ground in provenance.grounds)
        self._short = short_ids(named)
        self._newer = {edge.older: edge for edge in sorted(provenance.supersessions, key=lambda edge: edge.at)}
        self._causes: dict[str, list[Cause]] = {}
        for cause in provenance.causes:
            if cause.until is None:
                self._causes.setdefault(cause.memory, []).append(cause)
        self._grounds: dict[str, list[str]] = {}
        for ground in provenance.grounds:
            if ground.until is None and not ground.past:
                self._grounds.setdefault(ground.source, []).append(ground.target)

    def short(self, memory_id: str) -> str:
        """The id as it is shown."""
        return self._short[memory_id]

    def of(self, memory_id: str) -> str:
        """``active``, ``stale because …``, ``superseded by …`` and so on."""
        memory = self._memories[memory_id]
        if memory.status == "stale":
            return self._stale(memory_id)
        if memory.status == "superseded" and (edge := self._newer.get(memory_id)):
            return self._superseded(edge)
        return memory.status

    def _superseded(self, edge: Supersession) -> str:
        words = f"superseded by {self.short(edge.newer)}"
        if newer := self._memories.get(edge.newer):
            words += f" “{shortened(newer.text, _QUOTED_LENGTH)}”"
        words += f", {edge.mode}"
        return f"{words}: {shortened(edge.reason, _QUOTED_LENGTH)}" if edge.reason.strip() else words

    def _stale(self, memory_id: str) -> str:
        because = [cause.because for cause in self._causes.get(memory_id, [])]
        # Recorded causes explain; grounds that ended or are stale do so where one was not recorded.
        because += [target for target in self._grounds.get(memory_id, []) if self._fails(target)]
        reasons = [self._reason(target) for target in dict.fromkeys(because)]
        memory = self._memories[memory_id]
        if memory.type == "reflection" and memory.missing_grounds:
            reasons.insert(0, f"{counted(memory.missing_grounds, 'ground')} cannot be found")
        if not reasons:
            return "stale"
        words = "stale because " + " and ".join(reasons[:_MOST_REASONS])
        more = len(reasons) - _MOST_REASONS
        return f"{words} and {more:,} more changed" if more > 0 else words

    def _fails(self, memory_id: str) -> bool:
        ground = self._memories.get(memory_id)
        return ground is None or ground.status in ENDED or ground.status == "stale"

    def _reason(self, memory_id: str) -> str:
        short = self.short(memory_id)
        memory = self._memories.get(memory_id)
        if memory is None:
            return f"{short} changed"
        if memory.status == "superseded" and (edge := self._newer.get(memory_id)):
            return f"{short} was superseded by {self.short(edge.newer)}"
        if memory.status in ENDED:
            return f"{short} was {memory.status}"
        return f"{short} is stale" if memory.status == "stale" else f"{short} changed"


def kind_words(memory: AnyMemory) -> str:
    """What sort of memory it is; a plan says how far it has come, so that it is never read as done."""
    if memory.type == "plan":
        return f"plan ({memory.kind}, {memory.state})"
    return memory.kind
