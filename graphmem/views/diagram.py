"""Provenance as a graph to draw: which memories are drawn, joined how, and what is left out.

The renderings (:mod:`graphmem.views.pictures`) only write it down in their languages.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from graphmem.models import AnyMemory, Ground, Provenance
from graphmem.views.text import counted, moment, shortened
from graphmem.views.tree import ENDED, StatusWords, kind_words

Memories = Literal["observation", "reflection", "plan", "stale", "ended", "missing", "more"]
"""By what a memory is coloured: what it is, unless it is not believed, not there, or stands for what is left out."""
People = Literal["origin", "attended", "planned", "willing", "heard", "unaware"]
"""By what an agent is coloured: how far it came with a fact."""
Look = Memories | People
Edge = Literal["rests on", "rested on", "stale because", "replaced", "more", "told"]
"""What a line says: a ground that holds, one of the past, one at fault, a replacement, what is left out, or who told
whom."""

COLOURS: dict[Look, tuple[str, str]] = {
    "observation": ("#57C7E3", "#23B3D7"),
    "reflection": ("#8DCC93", "#5DB665"),
    "plan": ("#C990C0", "#B261A5"),
    "stale": ("#FFC454", "#D7A013"),
    "ended": ("#E8E8E8", "#EB2728"),
    "missing": ("#FFFFFF", "#EB2728"),
    "more": ("#FFFFFF", "#A5ABB6"),
    "origin": ("#F79767", "#F36924"),
    "attended": ("#8DCC93", "#5DB665"),
    "planned": ("#C990C0", "#B261A5"),
    "willing": ("#FFC454", "#D7A013"),
    "heard": ("#57C7E3", "#23B3D7"),
    "unaware": ("#FFFFFF", "#A5ABB6"),
}
"""Fill and border of nodes: those of cypher/browser/style.grass."""
LINES: dict[Edge, str] = {
    "rests on": "#4C8EDA",
    "rested on": "#A5ABB6",
    "stale because": "#D7A013",
    "replaced": "#EB2728",
    "more": "#A5ABB6",
    "told": "#4C8EDA",
}
"""Colours of lines."""

TEXT_LENGTH = 96
"""Most characters of a memory's text on its node."""
_WIDTH = 32
"""Characters of a line of it."""


@dataclass(frozen=True, slots=True)
class Node:
    """Something drawn. Its texts are free of control characters, and escaped for no language yet."""

    key: str
    """``n0``, ``n1``, …: ids of memories can hold anything."""
    look: Look
    head: str
    """What it is, its id, and its status unless it is active."""
    lines: tuple[str, ...]
    """Its text, shortened, in lines."""
    memory: AnyMemory | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line between two nodes, by their keys."""

    source: str
    target: str
    kind: Edge


@dataclass(frozen=True, slots=True)
class Diagram:
    """What is drawn."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    left_out: int
    """How many memories, which the roots rest on, are not drawn."""

    @property
    def note(self) -> str:
        """What is left out, in words; empty when nothing is."""
        if not self.left_out:
            return ""
        return f"{counted(self.left_out, 'memory', 'memories')} further below not drawn: raise the limit or the depth"


def diagram(provenance: Provenance, *, depth: int | None = None, limit: int = 200, ended: bool = False) -> Diagram:
    """Choose what of a provenance is drawn.

    Args:
        provenance: From ``agent.explain`` or ``agent.tree``.
        depth: How many levels below the roots are drawn, ≥ 0; None: all.
        limit: Most memories that are drawn, ≥ 1; upper levels come first, and what is collapsed below a memory is
            told on a node of its own.
        ended: Whether to draw citations of the past too.
    """
    return _Chosen(provenance, ended).diagram(depth, limit)


class _Chosen:
    def __init__(self, provenance: Provenance, ended: bool) -> None:
        self.provenance = provenance
        self.words = StatusWords(provenance)
        self.grounds: dict[str, list[Ground]] = {}
        for ground in provenance.grounds:
            if ended or ground.until is None:
                self.grounds.setdefault(ground.source, []).append(ground)
        self.faults = {(cause.memory, cause.because) for cause in provenance.causes if cause.until is None}

    def diagram(self, depth: int | None, limit: int) -> Diagram:
        levels = self._levels()
        drawn = [memory for memory, level in levels.items() if depth is None or level <= depth][:limit]
        keys = {memory: f"n{number}" for number, memory in enumerate(drawn)}
        # What replaced a memory that is drawn explains it, so it comes too, and does not count.
        for edge in self.provenance.supersessions:
            if edge.older in keys and edge.newer in self.provenance.memories:
                keys.setdefault(edge.newer, f"n{len(keys)}")
        nodes = [self._node(memory, key) for memory, key in keys.items()]
        lines = [Line(keys[s], keys[t], kind) for s, t, kind in self._edges() if s in keys and t in keys]
        for memory in drawn:
            below = {ground.target for ground in self.grounds.get(memory, []) if ground.target not in keys}
            if below:
                more = Node(f"m{len(nodes)}", "more", counted(len(below), "more memory", "more memories"), (), None)
                nodes.append(more)
                lines.append(Line(keys[memory], more.key, "more"))
        return Diagram(tuple(nodes), tuple(lines), left_out=len(levels.keys() - keys.keys()))

    def _levels(self) -> dict[str, int]:
        """Every memory that the roots rest on, with its distance from them, nearest first."""
        levels = dict.fromkeys(self.provenance.roots, 0)
        waiting = list(levels)
        for memory in waiting:  # which grows
            for ground in self.grounds.get(memory, []):
                if ground.target not in levels:
                    levels[ground.target] = levels[memory] + 1
                    waiting.append(ground.target)
        return levels

    def _edges(self) -> Iterable[tuple[str, str, Edge]]:
        for grounds in self.grounds.values():
            for ground in grounds:
                if ground.until is not None:
                    yield ground.source, ground.target, "rested on"
                elif (ground.source, ground.target) in self.faults:
                    yield ground.source, ground.target, "stale because"
                else:
                    yield ground.source, ground.target, "rests on"
        for edge in self.provenance.supersessions:
            yield edge.newer, edge.older, "replaced"

    def _node(self, memory_id: str, key: str) -> Node:
        memory = self.provenance.memories.get(memory_id)
        short = self.words.short(memory_id)
        if memory is None:
            return Node(key, "missing", f"missing {short}", ("cited, but not there",), None)
        status = "" if memory.status == "active" else f" [{memory.status}]"
        source = memory.source if memory.type == "observation" else None
        text = shortened(f"{source}: {memory.text}" if source else memory.text, TEXT_LENGTH)
        lines = tuple(textwrap.wrap(text, _WIDTH))
        return Node(key, _look(memory), f"{kind_words(memory)} {short}{status}", lines, memory)


def _look(memory: AnyMemory) -> Look:
    if memory.status in ENDED:
        return "ended"
    return "stale" if memory.status == "stale" else memory.type


def details(memory: AnyMemory) -> dict[str, str]:
    """What a picture that can be asked tells of a memory."""
    told = {"id": memory.id, "text": memory.text, "status": memory.status, "importance": str(memory.importance)}
    return {**told, "occurred": f"{moment(memory.occurred_at)} UTC", "depth": str(memory.depth)}
