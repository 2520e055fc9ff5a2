"""A small society from files: its world, its people and what is to be (``seeds/README.md``), made in a store."""

from __future__ import annotations

from graphmem.interfaces.society.files import Event, Person, Relationship, Society, default_society, load_society
from graphmem.interfaces.society.prepare import prepare, prepare_known

__all__ = [
    "Event",
    "Person",
    "Relationship",
    "Society",
    "default_society",
    "load_society",
    "prepare",
    "prepare_known",
]
