"""What forgetting does, or would do."""

from __future__ import annotations

from typing import Literal

from graphmem.models.memories import AnyMemory
from graphmem.models.values import Value

Dependents = Literal["recompute", "retract", "refuse"]
"""What becomes of the memories that rest on a forgotten one: they turn stale and are recomputed without it, are
retracted, or nothing is forgotten while there are any."""


class Stripped(Value):
    """A text that is taken away from something that stays."""

    where: str
    """The label of the node or the type of the relationship."""
    id: str
    """Of the node, or of the node at the beginning of the relationship."""
    property: str


class Copy(Value):
    """What another agent holds of the same text, or heard from the memory; it is not touched."""

    agent_id: str
    id: str


class ForgetReport(Value):
    """What ``forget`` did, or with ``dry_run`` would do."""

    agent_id: str
    id: str
    dry_run: bool
    forgotten: tuple[AnyMemory, ...] = ()
    """What became a tombstone, as it was before: the memory, and each whose text held its text or a term."""
    stripped: tuple[Stripped, ...] = ()
    """Other texts that held it: reasons, refused replies, sources, keywords."""
    dependents: tuple[AnyMemory, ...] = ()
    """All that rests or ever rested on what was forgotten, as it is after: it may say the same in other words, which
    nothing can prove."""
    stale: tuple[str, ...] = ()
    """Dependents that turned stale."""
    retracted: tuple[str, ...] = ()
    """Dependents that were retracted, where that was asked for."""
    copies: tuple[Copy, ...] = ()
    """What other agents hold of it."""
    places: tuple[str, ...] = ()
    """Paths of places that the agent knows or was simulated in and that are called by a term: the world calls them so,
    and they stay."""
    revision: int | None = None


class AgentForgotten(Value):
    """What forgetting a whole agent deleted, or with ``dry_run`` would delete."""

    agent_id: str
    dry_run: bool
    memories: int
    runs: int
    changes: int
