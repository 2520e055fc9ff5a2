"""What an import did with one person's files, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmem.interfaces.simulation.original import AUTHOR
from graphmem.interfaces.simulation.person import RULES, Person
from graphmem.models import AgentInfo, Imported, ImportedObservation, ImportedReflection
from graphmem.views.text import counted, moment

if TYPE_CHECKING:
    from graphmem import Memory

_NAMED = 3
"""Places that a line names; JSON has all of them."""
_WORDS = {
    "day": ("plan for a day", "plans for a day"),
    "hour": ("plan for hours", "plans for hours"),
    "step": ("plan for a step", "plans for steps"),
}


@dataclass(frozen=True)
class Depths:
    """How deep reflections are, ours beside the file's."""

    ours: dict[str, int]
    """1 + the deepest of the grounds that were found; what was given is not inferred, so it has none."""
    file: dict[str, int]
    """Where the file says one."""
    explained: frozenset[str]
    """Right by the rule of the published code, where what was given or lacks a ground has depth 1."""

    @property
    def levels(self) -> dict[int, int]:
        """How many reflections there are of each depth."""
        return dict(sorted(Counter(self.ours.values()).items()))

    @property
    def differing(self) -> list[str]:
        """Where the file says otherwise."""
        return [item for item, depth in self.file.items() if self.ours[item] != depth]


def depths_of(person: Person) -> Depths:
    """Compute depths from the citations, once by our rule and once by that of the code that wrote the file."""
    ours: dict[str, int] = {}
    theirs: dict[str, int] = {}
    file: dict[str, int] = {}
    inferred: dict[str, int] = {}
    for item in person.items:
        if isinstance(item, ImportedReflection):
            ours[item.id] = inferred[item.id] = 1 + max((ours[ground] for ground in item.evidence), default=0)
            whole = not item.missing_grounds
            theirs[item.id] = 1 + max((theirs[ground] for ground in item.evidence), default=0) if whole else 1
            if item.file_depth is not None:
                file[item.id] = item.file_depth
        else:
            told = isinstance(item, ImportedObservation) and item.source == AUTHOR
            ours[item.id] = 0
            theirs[item.id] = 1 if told or (item.type == "plan" and item.kind == "day") else 0
    explained = frozenset(item for item, depth in file.items() if theirs[item] == depth)
    return Depths(inferred, file, explained)


@dataclass
class Report:
    """One person: what the files hold, and what was stored."""

    person: Person
    agent: AgentInfo
    imported: Imported

    def join(self, memory: Memory) -> None:
        """Join what was heard with what was said, once everybody is imported; the same import again adds no more."""
        if self.imported.heard < len(self.person.snapshot.heard):
            again = memory.agent(self.agent.id).import_memories(self.person.snapshot)
            self.imported = self.imported.model_copy(update={"heard": again.heard})

    @property
    def complete(self) -> bool:
        """Whether every node was stored."""
        return "left_out" not in self.person.notes

    def as_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        person, depths = self.person, depths_of(self.person)
        return {
            "agent_id": self.agent.id,
            "name": person.name,
            "folder": str(person.folder),
            "nodes": person.nodes,
            "types": dict(person.types),
            "memories": len(person.items),
            "kinds": self._kinds(),
            "given": person.given,
            "reflections": len(person.reflections),
            "citing": sum(bool(item.evidence) for item in person.reflections),
            "citations": sum(len(item.evidence) for item in person.reflections),
            "missing_grounds": sum(len(item.missing_grounds) for item in person.reflections),
            "stale": self.agent.stale,
            "depths": {str(depth): number for depth, number in depths.levels.items()},
            "file_depth_differs": [
                {"id": id_, "file": depths.file[id_], "depth": depths.ours[id_], "explained": id_ in depths.explained}
                for id_ in depths.differing
            ],
            "rules": {
                rule: {"what": what, "done": done, "places": person.notes.get(rule, [])}
                for rule, (what, done) in RULES.items()
            },
            "clock": self.imported.clock.isoformat() if self.imported.clock else None,
            "importance_since_reflection": person.snapshot.importance_since_reflection,
            "heard_from_others": self.imported.heard,
            "places": len(person.snapshot.places),
            "added": self.imported.added,
            "known": self.imported.known,
            "citations_added": self.imported.citations,
            "not_embedded": list(self.imported.not_embedded),
        }

    def _kinds(self) -> dict[str, int]:
        return dict(Counter("insight" if item.type == "reflection" else item.kind for item in self.person.items))

    def lines(self) -> Iterable[str]:
        """For people: the figures, then a line for each rule that had to be applied."""
        person, depths, told = self.person, depths_of(self.person), self.as_dict()
        stored = f"{self.imported.added:,} added, {self.imported.known:,} known"
        clock = f"; its time is {moment(self.imported.clock)}" if self.imported.clock else ""
        yield f"{person.name} → agent {self.agent.id}: {stored}{clock}"
        types = ", ".join(counted(number, type_) for type_, number in person.types.items())
        yield f"  {counted(person.nodes, 'node')}: {types or 'none'}"
        kinds = ", ".join(counted(number, *_WORDS.get(kind, (kind,))) for kind, number in told["kinds"].items())
        yield f"  {counted(told['memories'], 'memory', 'memories')}: {kinds or 'none'}"
        if told["reflections"]:
            levels = ", ".join(f"{number:,} of depth {depth}" for depth, number in depths.levels.items())
            yield (
                f"  {counted(told['citing'], 'thought')} with {counted(told['citations'], 'citation')}, "
                f"{counted(told['missing_grounds'], 'ground')} missing, {told['stale']:,} stale; {levels}"
            )
        if differing := depths.differing:
            odd = len(differing) - sum(id_ in depths.explained for id_ in differing)
            yield (
                f"  another depth in the file: {len(differing):,} (there, what was given or lacks a ground counts 1; "
                f"not explained by that: {odd:,})"
            )
        if self.imported.heard:
            yield f"  {counted(self.imported.heard, 'utterance')} of others joined with their own memory of it"
        for rule, (what, done) in RULES.items():
            if places := person.notes.get(rule):
                more = f" and {len(places) - _NAMED:,} more" if len(places) > _NAMED else ""
                yield f"  {what}: {len(places):,} ({', '.join(places[:_NAMED])}{more}): {done}"
        if self.imported.not_embedded:
            yield f"  not embedded yet: {len(self.imported.not_embedded):,}: graphmem work tries again"
