"""What exporting and importing whole agents report."""

from __future__ import annotations

from graphmem.models.values import Value


class Exported(Value):
    """What ``export_graph`` wrote."""

    agents: tuple[str, ...]
    memories: int = 0
    """Of every status."""
    runs: int = 0
    changes: int = 0
    places: int = 0
    relationships: int = 0
    lines: int = 0
    """The head and the end counted."""


class GraphImported(Value):
    """What ``import_graph`` stored."""

    agents: tuple[str, ...]
    """All agents of the file, by the ids that they have here."""
    known: tuple[str, ...] = ()
    """Those that an earlier import of the same file had stored to the end; nothing was done for them."""
    memories: int = 0
    """Stored by this call, as are the next three."""
    runs: int = 0
    changes: int = 0
    places: int = 0
    relationships: int = 0
    not_embedded: int = 0
    """Memories without a vector of this store's model: ``work`` makes them."""
    not_joined: int = 0
    """How much was heard from agents that are not here."""
    violations: int = 0
    """What breaks a rule in the imported agents, as ``check`` tells: it was so in the file."""
