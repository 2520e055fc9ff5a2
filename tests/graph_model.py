"""The picture of the graph model in docs/graph-model.md, drawn from the neomodel classes.

``python tests/graph_model.py`` writes it there; tests/test_ogm.py fails while it is not current.
"""

from __future__ import annotations

import re
from pathlib import Path

from neomodel import StructuredNode
from neomodel.properties import Property
from neomodel.sync_.relationship_manager import RelationshipDefinition

from graphmem.graph import ogm

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "graph-model.md"
_MARKED = re.compile(r"(?<=<!-- drawn from graphmem/graph/ogm\.py -->\n).*?(?=\n<!-- end -->)", re.DOTALL)
_OUTGOING = 1
_TOLD = {
    "Agent": ("id", "name", "timeZone", "clock", "revision"),
    "Memory": ("agentId", "id", "text", "kind", "status", "held", "importance", "occurredAt", "recordedAt", "depth"),
    "Observation": ("source", "session", "place"),
    "Reflection": ("question", "writtenBy"),
    "Plan": ("start", "end", "state"),
    "Place": ("scope", "path"),
    "Simulation": ("name", "start", "done"),
    "Step": ("agentId", "simulation", "number"),
    "Entity": ("agentId", "name"),
    "Run": ("agentId", "id", "verb", "model", "outcome"),
    "Change": ("agentId", "seq", "verb", "at", "reason"),
    "About": ("roles",),
    "Cites": ("rank", "support", "until"),
    "Supersedes": ("mode", "reason"),
}
"""What the picture has room for; the tables tell all."""


def node_classes() -> list[type[StructuredNode]]:
    """Every class of a label, in the order of the module."""
    return [
        value
        for value in vars(ogm).values()
        if isinstance(value, type) and issubclass(value, StructuredNode) and "__label__" in vars(value)
        if value.__module__ == ogm.__name__
    ]


def properties(model: type) -> dict[str, Property]:
    """The properties of a class, by their names in the graph."""
    defined = model.defined_properties(aliases=False, rels=False)
    return {value.get_db_property_name(name): value for name, value in defined.items()}


def relationships(model: type[StructuredNode]) -> list[tuple[str, str, type]]:
    """Type, label at the end and model of each relationship that leaves a class's nodes and is its own."""
    found: list[tuple[str, str, type]] = []
    for value in vars(model).values():
        if isinstance(value, RelationshipDefinition) and value.definition["direction"] == _OUTGOING:
            value.lookup_node_class()
            found.append(
                (value.definition["relation_type"], value.definition["node_class"].__label__, value.definition["model"])
            )
    return found


def diagram() -> str:
    """The classes as a class diagram in Mermaid."""
    lines = ["```mermaid", "classDiagram", "  direction LR"]
    for model in node_classes():
        if model.__label__ not in _TOLD:
            continue
        lines.append(f"  class {model.__label__} {{")
        own = properties(model)
        for name in _TOLD[model.__label__]:
            kind = type(own[name]).__name__.removesuffix("Property").replace("DateTimeNeo4jFormat", "DateTime")
            lines.append(f"    {kind} {name}")
        lines.append("  }")
        parent = model.__mro__[1].__name__
        if parent in _TOLD:
            lines.append(f"  {parent} <|-- {model.__label__}")
        for kind, end, edge in relationships(model):
            told = [name for name in _TOLD.get(edge.__name__, ()) if name in properties(edge)]
            lines.append(f"  {model.__label__} --> {end} : {kind}{' ' + ', '.join(told) if told else ''}")
    return "\n".join([*lines, "```"])


def drawn() -> str:
    """What the document shows."""
    return _MARKED.findall(DOCUMENT.read_text("utf-8"))[0]


if __name__ == "__main__":
    DOCUMENT.write_text(_MARKED.sub(lambda _: diagram(), DOCUMENT.read_text("utf-8")), "utf-8")
