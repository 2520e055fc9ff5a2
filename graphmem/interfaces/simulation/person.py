"""One person of a save, read and not yet stored: what is imported, and all that was odd about the files."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from graphmem.models import AgentImport, AnyImported, ImportedReflection

RULES: dict[str, tuple[str, str]] = {
    "gaps": ("numbers left out of the numbering", "the others keep theirs"),
    "dangling": ("grounds that are not in the file", "the thought counts them as missing: stale"),
    "later": ("grounds that are not earlier than the thought itself", "the thought counts them as missing: stale"),
    "evidence_type": ("evidence that is no list of ids", "the thought counts it as missing: stale"),
    "no_evidence": ("thoughts inferred from nothing", "a ground is missing: stale"),
    "fillers": ("filler thoughts, stored where a model had failed", "their evidence is not believed: stale"),
    "importance": ("ratings that are no whole number from 1 to 10", "brought to the nearest, or rated by rule"),
    "times": ("times that cannot be read", "that of the node before"),
    "names": ("subjects, predicates, objects and keywords that are no names", "left out"),
    "conversations": ("utterances, or links to a conversation, that cannot be read", "left out"),
    "no_time": ("entries of the schedule that take no time", "left out: the published code pads schedules with them"),
    "schedule": ("entries of the schedule that cannot be read", "left out"),
    "clock": ("clock that does not fit the nodes", "its day in the year of the nodes, or the time of the newest"),
    "left_out": ("nodes that cannot be stored", "left out"),
}
"""Everything odd: what it is, and what is done about it. In the order of the report."""


@dataclass
class Person:
    """What one person's files hold."""

    name: str
    folder: Path
    nodes: int = 0
    types: Counter[str] = field(default_factory=Counter[str])
    """Nodes by what the file calls them."""
    items: list[AnyImported] = field(default_factory=list[AnyImported])
    """All that is imported, what each rests on before it."""
    given: int = 0
    """Thoughts that were given, not inferred."""
    notes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By rule, the places in the file to which it was applied."""
    ready: AgentImport | None = None

    def note(self, rule: str, place: str) -> None:
        """Remember that a rule was applied."""
        assert rule in RULES, rule
        self.notes.setdefault(rule, []).append(place)

    @property
    def snapshot(self) -> AgentImport:
        """All of it, to be stored."""
        assert self.ready is not None, f"{self.name} was not read to the end"
        return self.ready

    @property
    def reflections(self) -> list[ImportedReflection]:
        """What was inferred."""
        return [item for item in self.items if isinstance(item, ImportedReflection)]


def origin_of(files: Iterable[Path], *also: str) -> str:
    """A hash of what a person is read from: the same files in the same reading are the same import."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest() if file.is_file() else b"-")
    for text in also:
        digest.update(hashlib.sha256(text.encode()).digest())
    return f"sha256-{digest.hexdigest()[:32]}"
