"""Provenance as a picture without a server: Mermaid, DOT, and a web page that holds all it needs.

A memory's text may hold anything. In each language it is only ever a label.
"""

from __future__ import annotations

import html
import importlib
import re
from collections.abc import Callable
from typing import Any, Literal

from graphmem.errors import MissingExtra
from graphmem.models import Provenance
from graphmem.views.diagram import COLOURS, LINES, Diagram, Edge, Look, Node, details, diagram

PictureFormat = Literal["mermaid", "dot", "html"]

_ARROWS: dict[Edge, str] = {
    "rests on": "-->",
    "rested on": "-. until .->",
    "stale because": "== stale because ==>",
    "replaced": "-- replaced -->",
    "more": "-.-",
    "told": "-- told -->",
}


def picture(
    provenance: Provenance,
    format: PictureFormat,
    *,
    depth: int | None = None,
    limit: int = 200,
    ended: bool = False,
) -> tuple[str, str]:
    """Draw what the roots of a provenance rest on.

    Args:
        provenance: From ``agent.explain`` or ``agent.tree``.
        format: ``mermaid``, ``dot`` (Graphviz) or ``html``.
        depth: How many levels below the roots are drawn, ≥ 0; None: all.
        limit: Most memories that are drawn, ≥ 1; upper levels come first.
        ended: Whether to draw citations of the past too.

    Returns:
        The picture as text, and what is left out of it, in words; the picture says that as well.

    Raises:
        MissingExtra: For ``html``, when the extra ``pictures`` is not installed.
    """
    drawn = diagram(provenance, depth=depth, limit=limit, ended=ended)
    writers: dict[PictureFormat, Callable[[Diagram], str]] = {"mermaid": mermaid, "dot": dot, "html": page}
    return writers[format](drawn), drawn.note


# Everything but letters, digits and plain punctuation as its code: the label can neither end, nor begin markup.
_UNSAFE_IN_MERMAID = re.compile(r"[^\w .,:!?()'…\-–—]|_")


def _in_mermaid(text: str) -> str:
    return _UNSAFE_IN_MERMAID.sub(lambda match: f"#{ord(match[0])};" + _APART.get(match[0], ""), text)


# To Mermaid a backslash and an n are a line break, and two dollars a formula, even as codes: a space without width
# follows.
_APART = dict.fromkeys("\\$", "#8203;")


def mermaid(drawn: Diagram) -> str:
    """A flowchart in Mermaid, which GitHub and many editors draw from a fenced block."""
    lines = ["flowchart TD"]
    for node in drawn.nodes:
        label = "<br/>".join(map(_in_mermaid, (node.head, *node.lines)))
        lines.append(f'  {node.key}["{label}"]:::{node.look}')
    lines += [f"  {line.source} {_ARROWS[line.kind]} {line.target}" for line in drawn.lines]
    if drawn.note:
        lines.append(f'  rest["{_in_mermaid(drawn.note)}"]:::more')
    looks: dict[Look, None] = dict.fromkeys(node.look for node in drawn.nodes)
    if drawn.note:
        looks["more"] = None
    for look in looks:
        fill, border = COLOURS[look]
        lines.append(f"  classDef {look} fill:{fill},stroke:{border},color:#2A2C34")
    return "\n".join(lines) + "\n"


def _in_dot(text: str) -> str:
    # Graphviz reads HTML entities in labels, too.
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def dot(drawn: Diagram) -> str:
    """A graph in DOT, the language of Graphviz."""
    lines = ["digraph provenance {"]
    if drawn.note:
        lines.append(f'  label="{_in_dot(drawn.note)}";')
    lines += [
        '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10, fontcolor="#2A2C34"];',
        '  edge [fontname="sans-serif", fontsize=8];',
    ]
    for node in drawn.nodes:
        fill, border = COLOURS[node.look]
        label = "\\n".join(map(_in_dot, (node.head, *node.lines)))
        lines.append(f'  {node.key} [label="{label}", fillcolor="{fill}", color="{border}"];')
    for line in drawn.lines:
        told = f', label="{line.kind}"' if line.kind in ("stale because", "replaced", "told") else ""
        style = "dashed" if line.kind in ("rested on", "more") else "solid"
        lines.append(f'  {line.source} -> {line.target} [color="{LINES[line.kind]}", style={style}{told}];')
    return "\n".join([*lines, "}"]) + "\n"


def page(drawn: Diagram) -> str:
    """A web page on neo4j-viz, of about 4 MB, that fetches nothing: it can be sent, and opened without a network.

    Raises:
        MissingExtra: When the extra ``pictures`` is not installed.
    """
    try:
        # Its types leave out which fields have defaults.
        viz: Any = importlib.import_module("neo4j_viz")
    except ImportError as error:
        raise MissingExtra(
            "pictures as web pages need neo4j-viz, which is not installed", remedy="pip install 'graphmem[pictures]'"
        ) from error
    nodes = [
        viz.Node(
            id=node.key,
            caption=" ".join((node.head, *node.lines)),
            size=24 if node.look == "more" else 40,
            color=COLOURS[node.look][0],
            properties=_properties(node),
        )
        for node in drawn.nodes
    ]
    relationships = [
        viz.Relationship(
            source=line.source, target=line.target, caption=line.kind, color=LINES[line.kind], properties={}
        )
        for line in drawn.lines
    ]
    graph = viz.VisualizationGraph(nodes=nodes, relationships=relationships)
    rendered = graph.render(layout=viz.Layout.HIERARCHICAL, height="100vh", theme="light")
    text = str(rendered.data).replace("<title>neo4j-viz</title>", "<title>graphmem: what it rests on</title>", 1)
    if drawn.note:
        text = text.replace("<body>", f"<body><p>{html.escape(drawn.note)}</p>", 1)
    return text


def _properties(node: Node) -> dict[str, str]:
    return {"note": node.head} if node.memory is None else details(node.memory)
