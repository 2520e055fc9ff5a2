"""An agent's timeline: what it observed and inferred, what turned stale, what it came to believe instead."""

from __future__ import annotations

from graphmem.clock import as_utc
from graphmem.cognition import truth
from graphmem.cognition.engine import CALLER, Engine, checked_limit
from graphmem.cognition.history import BEGINNINGS, LOGGED
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row
from graphmem.models import HistoryEvent, TimelineEvent


async def timeline(
    engine: Engine, agent_id: str, *, limit: int = 100, before: object = None
) -> tuple[TimelineEvent, ...]:
    """The latest that happened to an agent's memories, in the order of the times.

    Args:
        engine: The open store with its models.
        agent_id: Whose timeline.
        limit: Most events, 1 to 10,000.
        before: Only what happened earlier than this, a time with a zone.

    Raises:
        InvalidInput: When the limit or the time is refused.
    """
    earlier = as_utc(before) if before is not None else None
    rows = await engine.store.query(
        "history/timeline", agentId=agent_id, limit=checked_limit(limit), before=earlier, ends=list(truth.ENDS)
    )
    return tuple(_event(row) for row in reversed(rows))


def _event(row: Row) -> TimelineEvent:
    memory, other = to_memory(row), row["other"]
    linked = {"other": other["id"], "other_text": other["text"]} if other else {}
    change: Row | None = row["change"]
    if change is None:
        by = memory.written_by if memory.type == "reflection" else CALLER
        told = {"type": "stale", **linked} if row["stale"] else {"type": BEGINNINGS[memory.type], "by": by}
    else:
        type_, verb = LOGGED.get(change["verb"], ("changed", change["verb"]))
        told = {
            "type": "stale" if row["stale"] else type_,
            "verb": verb,
            "by": change["by"],
            "reason": change["reason"],
            "seq": change["seq"],
            "importance_before": change.get("importanceBefore"),
            "importance_after": change.get("importanceAfter"),
            **linked,
        }
    return TimelineEvent(event=HistoryEvent.model_validate({"at": row["at"], **told}), memory=memory)
