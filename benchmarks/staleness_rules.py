"""The rules of docs/truth.md in plain Python: what must be believed after each operation, for the staleness benchmark.

Written from the rules alone. It knows no query and no code of graphmem: staleness is looked up along the paths of
grounds each time, nothing is propagated, and nothing is stored that follows from something else.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Ending = Literal["caller", "key", "recompute", "restore", "forget"]


@dataclass
class Belief:
    """One memory."""

    id: str
    text: str
    type: Literal["observation", "reflection", "plan"] = "observation"
    key: str | None = None
    order: tuple[float, str, str] = (0, "", "")
    """Place among the values of a key: when it happened, then by id; a correction takes the place of the corrected."""
    grounds: set[str] = field(default_factory=set[str])
    past: set[str] = field(default_factory=set[str])
    """Cited as they were, until an update superseded them."""
    ended: Ending | None = None
    status: str = "active"
    """Of an ended one: superseded, retracted or forgotten."""
    replaced_by: str | None = None
    update: bool = False
    """Whether it was true until it was replaced."""
    made: bool = False
    """Whether what replaced it was written for that."""
    gave_way: dict[str, int] = field(default_factory=dict[str, int])
    """What it had replaced, and no longer does, with the number of the change that undid it."""
    moved: dict[str, str] = field(default_factory=dict[str, str])
    """By a former ground, where its citation was moved to because the text still held."""
    besides: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Moves (from, to) to something that it rested on besides."""

    @property
    def held(self) -> bool:
        """Whether it has not ended."""
        return self.ended is None


class Beliefs:
    """All memories of one agent."""

    def __init__(self) -> None:
        self.all: dict[str, Belief] = {}
        self.changes = 0
        """How many there were."""

    def __getitem__(self, id: str) -> Belief:
        return self.all[id]

    # --- the one rule -------------------------------------------------------------------------------------------

    def stale(self, id: str) -> bool:
        """Whether a path of current grounds leads from a held derived memory to one that has ended."""
        belief = self.all[id]
        return belief.held and self._unfounded(belief, set())

    def _unfounded(self, belief: Belief, seen: set[str]) -> bool:
        return any(self._fallen(ground, seen) for ground in belief.grounds) or not all(map(self.was, belief.past))

    def was(self, id: str) -> bool:
        """Whether a memory was true until an update superseded it."""
        belief = self.all[id]
        return belief.status == "superseded" and belief.replaced_by is not None and belief.update

    def _fallen(self, id: str, seen: set[str]) -> bool:
        if id in seen:
            return False
        seen.add(id)
        belief = self.all[id]
        return not belief.held or self._unfounded(belief, seen)

    def status(self, id: str) -> str:
        """What the store must say of a memory."""
        belief = self.all[id]
        if not belief.held:
            return belief.status
        return "stale" if self.stale(id) else "active"

    def active(self) -> list[Belief]:
        """All that may be served."""
        return [belief for belief in self.all.values() if self.status(belief.id) == "active"]

    def dependents(self, id: str) -> set[str]:
        """Held memories that rest on one, at any depth."""
        found: set[str] = set()
        level = {id}
        while level:
            level = {b.id for b in self.all.values() if b.held and (b.grounds | b.past) & level} - found
            found |= level
        return found

    # --- chains -------------------------------------------------------------------------------------------------

    def head(self, id: str) -> str:
        """What stands at the end of a chain of supersession."""
        while (following := self.all[id].replaced_by) is not None:
            id = following
        return id

    def stands_for(self, id: str) -> str:
        """What stands in the place of a ground: its head, or what was restored when that head gave way."""
        head = self.all[self.head(id)]
        if not head.held:
            # The one that was restored last; of those restored together the first by id.
            for former, _ in sorted(head.gave_way.items(), key=lambda item: (-item[1], item[0])):
                if self.all[former].held:
                    return former
        return head.id

    def rests_on(self, id: str, target: str) -> bool:
        """Whether a memory rests on another, chains of supersession followed."""
        seen: set[str] = set()
        todo = [id]
        while todo:
            here = todo.pop()
            if here == target:
                return True
            if here not in seen:
                seen.add(here)
                belief = self.all[here]
                todo += [*belief.grounds, *belief.past, *([belief.replaced_by] if belief.replaced_by else [])]
        return False

    # --- changes ------------------------------------------------------------------------------------------------

    def add(self, belief: Belief) -> None:
        """A new memory."""
        self.changes += 1
        self.all[belief.id] = belief
        self._settle(belief.key)

    def supersede(self, old: str, new: Belief, *, correction: bool, made: bool, update: bool) -> None:
        """Replace a memory by another, which is new or was there before.

        Args:
            correction: Whether it takes the place of the old one among the values of a key.
            update: Whether the old one was true until now.
        """
        self.changes += 1
        replaced = self.all[old]
        next_value = replaced.key is not None and not correction
        if replaced.key is not None and correction:
            new.order = (*replaced.order[:2], new.id)
        self.all[new.id] = new
        self._end(old, "superseded", "key" if next_value else "caller")
        replaced.replaced_by, replaced.made, replaced.update = new.id, made, update
        self._settle(replaced.key)

    def retract(self, id: str) -> None:
        """Stop holding a memory; of a key, the value before it holds again."""
        self.changes += 1
        self._end(id, "retracted", "caller")
        before = self._statuses()
        revived = self._settle(self.all[id].key)
        if revived:
            self._cascade(before)

    def restorable(self, id: str) -> bool:
        """Whether the newest change of a memory can be undone."""
        belief = self.all[id]
        if belief.held or belief.status == "forgotten":
            return False
        newer = self.all[belief.replaced_by] if belief.replaced_by else None
        if belief.key is not None:
            besides = newer.id if newer is not None and belief.made else None
            later = [b for b in self._standing(belief.key) if b.order > belief.order and b.id != besides]
            if later:
                return False
        return newer is None or newer.held

    def restore(self, id: str) -> None:
        """Undo the newest change, and what recompute had made of it."""
        self.changes += 1
        before = self._statuses()
        self._undo(id)
        self._settle(self.all[id].key)
        self._cascade(before)

    def forget(self, id: str) -> None:
        """Make a tombstone of a memory."""
        self.changes += 1
        belief = self.all[id]
        belief.ended = "forget" if belief.held or belief.ended == "key" else "caller"
        belief.status = "forgotten"
        belief.text = ""
        self._settle(belief.key)

    # --- recompute ----------------------------------------------------------------------------------------------

    def ready(self, id: str) -> bool:
        """Whether a stale reflection may be recomputed: nothing that it would be shown is stale."""
        belief = self.all[id]
        return (
            belief.type == "reflection"
            and self.stale(id)
            and not any(self.stale(self.stands_for(ground)) for ground in belief.grounds | belief.past)
        )

    def evidence(self, id: str) -> dict[str, str]:
        """By each ground, what stands in its place; what has ended is dropped from what is shown."""
        belief = self.all[id]
        return {ground: self.stands_for(ground) for ground in belief.grounds | belief.past}

    def shown_past(self, id: str) -> set[str]:
        """Ids of what a recompute is shown as true until it changed."""
        return {ground for ground in self.evidence(id) if self.was(ground)}

    def shown(self, id: str) -> set[str]:
        """Ids of the evidence that a recompute is shown."""
        return {standing for standing in self.evidence(id).values() if self.status(standing) == "active"}

    def confirm(self, id: str, past: set[str]) -> None:
        """It follows as it stands, from all that is shown to hold and from some of what was."""
        belief = self.all[id]
        shown = self.shown(id)
        for ground, standing in self.evidence(id).items():
            if ground not in belief.grounds:
                continue
            if standing == ground or self.status(standing) != "active":
                continue
            belief.moved[ground] = standing
            if standing in belief.grounds:
                belief.besides.add((ground, standing))
            else:
                belief.besides.discard((ground, standing))
        belief.grounds, belief.past = shown, set(past)

    def revise(self, id: str, new: Belief, past: set[str]) -> None:
        """Something else follows, from all that is shown to hold and from some of what was."""
        new.grounds, new.past = self.shown(id), set(past)
        self.all[new.id] = new
        self._end(id, "superseded", "recompute")
        self.all[id].replaced_by, self.all[id].made, self.all[id].update = new.id, True, False

    def drop(self, id: str) -> None:
        """Nothing follows, or nothing is left to rest on."""
        self._end(id, "retracted", "recompute")

    # --- the rules in detail ------------------------------------------------------------------------------------

    def _end(self, id: str, status: str, by: Ending) -> None:
        self.all[id].status, self.all[id].ended = status, by

    def _undo(self, id: str) -> None:
        belief = self.all[id]
        belief.ended, belief.status = None, "active"
        if belief.replaced_by is None:
            return
        newer = self.all[belief.replaced_by]
        made = belief.made
        self._unlink(belief)
        self._move_back(id, newer.id)
        if made and newer.held:
            self._end(newer.id, "retracted", "restore")

    def _unlink(self, belief: Belief) -> None:
        assert belief.replaced_by is not None
        self.all[belief.replaced_by].gave_way[belief.id] = self.changes
        belief.replaced_by, belief.made, belief.update = None, False, False

    def _move_back(self, restored: str, newer: str) -> None:
        for upper in self.all.values():
            if upper.held and upper.moved.get(restored) == newer and newer in upper.grounds:
                if (restored, newer) not in upper.besides:
                    upper.grounds.discard(newer)
                upper.past.discard(restored)
                upper.grounds.add(restored)

    def _statuses(self) -> dict[str, str]:
        return {id: self.status(id) for id in self.all}

    def _cascade(self, before: dict[str, str]) -> None:
        """What recompute had ended, and whose old grounds are all active again, is held again, from the bottom up."""
        while True:
            again = {id for id in self.all if self.status(id) == "active" and before[id] != "active"}
            found = sorted(
                b.id
                for b in self.all.values()
                if b.ended == "recompute"
                and (b.grounds | b.past) & again
                and all(self.status(ground) == "active" for ground in b.grounds)
                and all(map(self.was, b.past))
                and (b.replaced_by is None or self.all[b.replaced_by].held)
            )
            if not found:
                return
            for id in found:
                self._undo(id)

    def _standing(self, key: str) -> list[Belief]:
        """Values of a key that were neither retracted nor corrected, in order; forgotten ones stand."""
        values = [b for b in self.all.values() if b.key == key and b.ended in (None, "key", "forget")]
        return sorted(values, key=lambda b: b.order)

    def _settle(self, key: str | None) -> bool:
        """Each value of a key is superseded by the next, and the last holds unless it was forgotten."""
        if key is None:
            return False
        standing = self._standing(key)
        revived = False
        for belief, following in self._pairs(standing):
            if following is not None:
                if belief.replaced_by != following.id:
                    if belief.replaced_by is not None:
                        self._unlink(belief)
                    belief.replaced_by, belief.made = following.id, False
                    belief.update = True
                if belief.held:
                    self._end(belief.id, "superseded", "key")
                continue
            newer = belief.replaced_by
            if newer is not None:
                self._unlink(belief)
            if belief.ended == "key" and belief.status != "forgotten":
                revived = True
                belief.ended, belief.status = None, "active"
                if newer is not None:
                    self._move_back(belief.id, newer)
            if belief.held:
                self._move_to(belief)
        return revived

    @staticmethod
    def _pairs(standing: list[Belief]) -> Iterator[tuple[Belief, Belief | None]]:
        yield from itertools.zip_longest(standing, standing[1:])

    def _move_to(self, latest: Belief) -> None:
        """What rests on an earlier value of the same text rests on the latest one instead: nothing changed."""
        earlier = {
            b.id
            for b in self.all.values()
            if b.key == latest.key and b.ended == "key" and b.status == "superseded" and b.text == latest.text
        }
        for upper in self.all.values():
            if upper.held:
                for ground in upper.grounds & earlier:
                    upper.moved[ground] = latest.id
                    if latest.id in upper.grounds - earlier:
                        upper.besides.add((ground, latest.id))
                    else:
                        upper.besides.discard((ground, latest.id))
                if upper.grounds & earlier:
                    upper.grounds = (upper.grounds - earlier) | {latest.id}
                    upper.past.discard(latest.id)
