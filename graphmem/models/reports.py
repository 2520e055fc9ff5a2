"""What each verb reports."""

from __future__ import annotations

from typing import Literal

from graphmem.models.memories import AnyMemory, Reflection
from graphmem.models.runs import Refused, RunRef
from graphmem.models.values import Value


class Observed(Value):
    """What ``observe_many`` did."""

    ids: tuple[str, ...]
    """The id of each item, in the order given."""
    added: int
    known: int
    """Items that were stored before with the same content."""
    not_embedded: tuple[str, ...] = ()
    """Stored, but without a vector: the embedder failed on these texts."""
    superseded: tuple[str, ...] = ()
    """Values that hold no longer, since there is a later one of their key: of those stored, or of earlier ones."""
    stale: tuple[str, ...] = ()
    """What rested on them, and turned stale."""


ReflectOutcome = Literal["reflected", "no_insight", "not_due", "nothing_to_reflect_on", "busy"]


class ReflectReport(Value):
    """What ``reflect`` did."""

    outcome: ReflectOutcome
    run_id: str | None = None
    questions: tuple[str, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    reinforced: tuple[str, ...] = ()
    """Reflections that already said the same and gained evidence."""
    refused: tuple[Refused, ...] = ()
    not_shown: int = 0
    """Observations since the last reflection that none of its prompts showed: too many came in."""
    importance_since_reflection: int = 0
    """The sum so far, and"""
    threshold: int = 0
    """the sum at which the next reflection is due."""


class Reappraised(Value):
    """What became of the importance of one memory, from 1 to 10."""

    id: str
    text: str
    before: int
    after: int


class ReappraiseReport(Value):
    """What ``reappraise`` did."""

    run_id: str | None = None
    """None where there was nothing to look at."""
    changed: tuple[Reappraised, ...] = ()
    unchanged: int = 0
    """Looked at and left as they are."""
    refused: tuple[Refused, ...] = ()
    not_rated: int = 0
    """Memories for which the model gave no rating that could be used."""


class AnchorRating(Value):
    """How a language model rates a text whose importance is agreed on."""

    text: str
    lowest: int
    highest: int
    rating: int | None = None
    """None: it gave none."""

    @property
    def holds(self) -> bool:
        """Whether the rating is where it should be."""
        return self.rating is not None and self.lowest <= self.rating <= self.highest


class ModelCheck(Value):
    """Whether a language model can be trusted with a memory: what it makes of tasks whose answers are known."""

    model: str
    anchors: tuple[AnchorRating, ...] = ()
    insights: int = 0
    """Insights that it wrote over a small story and that passed all gates."""
    refused: tuple[Refused, ...] = ()
    """What it wrote and a gate refused."""
    error: str = ""
    """Why it gave no answer at all; nothing else was asked after that."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    @property
    def misjudged(self) -> tuple[AnchorRating, ...]:
        """The anchors that it rates elsewhere."""
        return tuple(anchor for anchor in self.anchors if not anchor.holds)

    @property
    def trusted(self) -> bool:
        """Whether all anchors but one at most hold, and a grounded insight was written."""
        return not self.error and bool(self.anchors) and len(self.misjudged) <= 1 and self.insights > 0


class ChangeReport(Value):
    """What ``supersede``, ``retract`` or ``restore`` did, dependents included."""

    verb: Literal["supersede", "retract", "restore"]
    memory: AnyMemory
    """The memory whose belief ended, or is held again."""
    replacement: AnyMemory | None = None
    """What replaced it, or had replaced it."""
    stale_ids: tuple[str, ...] = ()
    """Everything above it that turned stale in the same transaction, shallowest first."""
    stale: tuple[AnyMemory, ...] = ()
    """The first thousand of these."""
    active: tuple[AnyMemory, ...] = ()
    """What had been stale and turned active again."""
    restored: tuple[AnyMemory, ...] = ()
    """Reflections that recompute had revised or retracted, and that hold again as their old grounds do."""
    used_by: tuple[RunRef, ...] = ()
    """Runs whose prompt had shown the memory."""
    revision: int


RecomputeOutcome = Literal["confirmed", "revised", "retracted", "failed"]


class Recomputed(Value):
    """What became of one stale memory."""

    id: str
    outcome: RecomputeOutcome
    before: str
    after: str | None = None
    """The text that holds now; None when retracted or failed."""
    new_id: str | None = None
    """The memory that replaced it, when revised."""
    reason: str = ""


class RecomputeReport(Value):
    """What ``recompute`` did."""

    items: tuple[Recomputed, ...] = ()
    remaining: int = 0
    """Reflections that are still stale: failed, waiting for one that failed, beyond the limit, or"""
    elsewhere: int = 0
    """leased by another worker; the lease of one that died ends within a minute."""

    def count(self, outcome: RecomputeOutcome) -> int:
        """How many ended so."""
        return sum(item.outcome == outcome for item in self.items)


class Reembedded(Value):
    """What ``reembed`` did."""

    before: str
    """The embedding model that the store was for, and"""
    after: str
    """the one that it is for now; the same where there was nothing to do."""
    dimension: int
    memories: int = 0
    """Memories whose vectors were replaced."""
    embedded: int = 0
    """Of these, those whose text was embedded by this call; the others were by one that was cut off."""
    not_embedded: int = 0
    """Of these, those that the new model could not embed; background work tries them again."""


class Failure(Value):
    """What stopped the work for one agent."""

    agent_id: str
    error: str
    remedy: str = ""


class WorkReport(Value):
    """What one round of background work did."""

    agents: int = 0
    """Agents that were worked for."""
    embedded: int = 0
    rated: int = 0
    reflections: int = 0
    recomputed: int = 0
    planned: int = 0
    """Agents whose plans were stale and made anew."""
    failures: tuple[Failure, ...] = ()
    pending: tuple[str, ...] = ()
    """Agents for whom something is still to do: it failed, waits for its next attempt, or another worker is at it."""
