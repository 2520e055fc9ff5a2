"""One person of a save, read and not yet stored: what is imported, and all that was odd about the files."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from graphmem.models import AgentImport, AnyImported, Heard, ImportedObservation, ImportedReflection

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
    prefix: str = ""
    """Stands before the name in the agent's id."""
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
    def agent_id(self) -> str:
        """Whose memory it becomes."""
        return f"{self.prefix}{self.name}"

    @property
    def snapshot(self) -> AgentImport:
        """All of it, to be stored."""
        assert self.ready is not None, f"{self.name} was not read to the end"
        return self.ready

    @property
    def reflections(self) -> list[ImportedReflection]:
        """What was inferred."""
        return [item for item in self.items if isinstance(item, ImportedReflection)]


def join_heard(people: Sequence[Person]) -> None:
    """Find, for each utterance of another, that one's own memory of it: the same turn of the same conversation.

    A conversation is stored with everyone who took part, under ids of their own.
    """
    said: dict[tuple[datetime, str, str, str], list[tuple[str, str]]] = {}
    for person in people:
        for turn in _utterances(person):
            said.setdefault(_turn(turn), []).append((person.agent_id, turn.id))
    speakers = {person.name: person.agent_id for person in people}
    for person in people:
        heard: list[Heard] = []
        for turn in _utterances(person):
            speaker = speakers.get(turn.source or "")
            theirs = [id_ for agent_id, id_ in said[_turn(turn)] if agent_id == speaker]
            if speaker != person.agent_id and theirs:
                heard.append(Heard(id=turn.id, agent_id=speaker or "", memory_id=theirs[0]))
        person.ready = person.snapshot.model_copy(update={"heard": tuple(heard)})


def _utterances(person: Person) -> Iterable[ImportedObservation]:
    return (item for item in person.items if item.type == "observation" and item.kind == "utterance")


def _turn(turn: ImportedObservation) -> tuple[datetime, str, str, str]:
    """The time counts the turns as well."""
    return (turn.occurred_at, turn.source or "", turn.id.rpartition(":")[2], turn.text)


def origin_of(files: Iterable[Path], *also: str) -> str:
    """A hash of what a person is read from: the same files in the same reading are the same import."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest() if file.is_file() else b"-")
    for text in also:
        digest.update(hashlib.sha256(text.encode()).digest())
    return f"sha256-{digest.hexdigest()[:32]}"
