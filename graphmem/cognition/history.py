"""History: all that happened to one memory, from the log of changes and from its relationships."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from graphmem.cognition import truth
from graphmem.cognition.engine import CALLER, Engine, checked_id, checked_limit, fetch_one
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.models import AnyMemory, HistoryEvent, HistoryType, LogEntry

LOGGED: dict[str, tuple[HistoryType, str]] = {
    "reinforce": ("reinforced", "reflect"),
    "supersede": ("superseded", "supersede"),
    "retract": ("retracted", "retract"),
    "recompute:confirmed": ("confirmed", "recompute"),
    "recompute:revised": ("superseded", "recompute"),
    "recompute:retracted": ("retracted", "recompute"),
    "restore": ("restored", "restore"),
    "restore:retracted": ("retracted", "restore"),
    "forget": ("forgotten", "forget"),
    "resolve:superseded": ("superseded", "resolve"),
    "resolve:retracted": ("retracted", "resolve"),
    "key:superseded": ("superseded", "observe"),
    "key:restored": ("restored", "retract"),
    "archive": ("archived", "archive"),
    "unarchive": ("restored", "unarchive"),
    "feedback": ("rated", "feedback"),
    "reappraise": ("rated", "reappraise"),
    "plan:superseded": ("superseded", "replan"),
    "plan:done": ("finished", "finish"),
    "plan:missed": ("finished", "finish"),
    "plan:dropped": ("finished", "finish"),
    "summarise:superseded": ("superseded", "summarise"),
}
"""What an entry of the log did to its memory, and in which verb."""
_TOLD_OTHERWISE = ("reflect", "restore:retracted")
"""How it began, and what SUPERSEDES tells with the memory that was restored."""
BEGINNINGS: dict[str, HistoryType] = {"observation": "observed", "reflection": "inferred", "plan": "planned"}
_VERBS = {"observation": "observe"}


async def history(engine: Engine, agent_id: str, memory_id: str) -> tuple[HistoryEvent, ...]:
    """All that happened to one memory: how it came about first, then in the order of the times.

    Raises:
        UnknownMemory: When this agent has none of that id.
    """
    memory_id = checked_id(memory_id)

    async def work(tx: Transaction) -> tuple[HistoryEvent, ...]:
        memory = await fetch_one(tx, agent_id, memory_id)
        changes = await tx.run("history/changes", agentId=agent_id, id=memory_id)
        edges = await tx.run("history/edges", agentId=agent_id, id=memory_id, ends=list(truth.ENDS))
        runs = await tx.run("explain/runs", agentId=agent_id, ids=[memory_id])
        return _told(memory, changes, edges, runs[0]["run"] if runs else None)

    return await engine.store.read(work)


def _told(
    memory: AnyMemory, changes: Sequence[Row], edges: Sequence[Row], run: dict[str, Any] | None
) -> tuple[HistoryEvent, ...]:
    replacements = {row["edge"]["at"]: row for row in edges if row["type"] == "SUPERSEDES" and not row["newer"]}
    causes = [row for row in edges if row["type"] == "STALE_BECAUSE"]
    told = [change for change in changes if change["verb"] not in _TOLD_OTHERWISE and not _said_anew(change, changes)]
    events = [_logged(change, replacements) for change in told]
    events += [event for row in edges if row["type"] == "SUPERSEDES" and row["newer"] for event in _replaced(row)]
    events += [_stale(row) for row in causes]
    events += _active_again(causes, settled={event.at for event in events if event.type in _SETTLES})
    # A revision has one number for all that happened in it; where times are equal, it tells the order.
    events.sort(key=lambda event: (event.at, event.seq or 0))
    return (_beginning(memory, changes, run), *events)


_SETTLES = {"confirmed", "superseded", "retracted", "restored"}
"""What ends staleness with an entry of its own."""


def _said_anew(change: Row, changes: Sequence[Row]) -> bool:
    """Whether a value of a key that arrived later, of an earlier time, decided what became of this one then."""
    by_key = [later for later in changes if later["verb"] in truth.BY_KEY]
    return change in by_key and any(later["seq"] > change["seq"] and later["at"] < change["at"] for later in by_key)


def _beginning(memory: AnyMemory, changes: Sequence[Row], run: dict[str, Any] | None) -> HistoryEvent:
    logged = next((change for change in changes if change["verb"] == "reflect"), None)
    return HistoryEvent(
        type=BEGINNINGS[memory.type],
        at=memory.recorded_at,
        verb=run["verb"] if run else _VERBS.get(memory.type) if memory.imported_at is None else "import",
        by=memory.written_by if memory.type == "reflection" else CALLER,
        seq=logged["seq"] if logged else None,
        run_id=run["id"] if run else None,
    )


def _logged(change: Row, replacements: dict[datetime, Row]) -> HistoryEvent:
    type_, verb = LOGGED.get(change["verb"], ("changed", change["verb"]))
    row = replacements.get(change["at"]) if type_ == "superseded" else None
    return HistoryEvent(
        type=type_,
        at=change["at"],
        verb=verb,
        by=change["by"],
        reason=change["reason"] or (row["edge"]["reason"] if row else ""),
        importance_before=change["importanceBefore"],
        importance_after=change["importanceAfter"],
        seq=change["seq"],
        mode=row["edge"]["mode"] if row else None,
        other=row["other"]["id"] if row else None,
        other_text=row["other"]["text"] if row else None,
    )


def _replaced(row: Row) -> Iterable[HistoryEvent]:
    """The memory took another's place, and perhaps gave it back when that one was restored."""
    edge, change = row["edge"], row["change"]
    if change and change["verb"] in truth.BY_KEY and edge.get("revokedAt") == edge["at"]:
        return  # A value between the two arrived later: at no time did this one take the other's place.
    other, text = row["other"]["id"], row["other"]["text"]
    yield HistoryEvent(
        type="supersedes",
        at=edge["at"],
        verb=LOGGED[change["verb"]][1] if change else None,
        by=edge["by"],
        reason=edge["reason"],
        seq=change["seq"] if change else None,
        mode=edge["mode"],
        other=other,
        other_text=text,
    )
    if revoked := edge.get("revokedAt"):
        # What was written only to replace the other one ended with that.
        type_: HistoryType = "retracted" if edge.get("made") else "gave_way"
        yield HistoryEvent(type=type_, at=revoked, verb="restore", by=CALLER, other=other, other_text=text)


def _stale(row: Row) -> HistoryEvent:
    change: Row = row["change"] or {"verb": None, "by": "", "reason": "", "seq": None}
    return HistoryEvent(
        type="stale",
        at=row["edge"]["since"],
        verb=LOGGED[change["verb"]][1] if change["verb"] else None,
        by=change["by"],
        reason=change["reason"],
        seq=change["seq"],
        other=row["other"]["id"],
        other_text=row["other"]["text"],
    )


def _active_again(causes: Sequence[Row], *, settled: set[datetime]) -> Iterable[HistoryEvent]:
    """Moments at which the last cause ceased by itself: what it rests on was confirmed, or holds again."""
    spans = [(row["edge"]["since"], row["edge"].get("until"), row["other"]) for row in causes]
    for moment in sorted({until for _, until, _ in spans if until is not None} - settled):
        if all(since > moment or (until is not None and until <= moment) for since, until, _ in spans):
            last = max((span for span in spans if span[1] == moment), key=lambda span: (span[0], span[2]["id"]))
            yield HistoryEvent(type="active", at=moment, other=last[2]["id"], other_text=last[2]["text"])


RESOLVED = ("resolve:superseded", "resolve:retracted")
"""Verbs of the log by which a language model ended a memory on its own."""


async def log(
    engine: Engine,
    agent_id: str,
    *,
    limit: int = 100,
    before: int | None = None,
    verbs: Sequence[str] | None = None,
) -> tuple[LogEntry, ...]:
    """An agent's log of changes, latest first.

    Args:
        engine: The open store with its models.
        agent_id: Whose log.
        limit: Most entries, 1 to 10,000.
        before: Only entries of earlier revisions than this.
        verbs: Only entries of these verbs.

    Raises:
        InvalidInput: When the limit or ``before`` is refused.
    """
    if before is not None and (isinstance(before, bool) or not isinstance(before, int) or not 0 <= before < 2**63):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"before: {before!r} is not the number of a revision")
    rows = await engine.store.query(
        "history/log",
        agentId=agent_id,
        limit=checked_limit(limit),
        before=before,
        verbs=list(verbs) if verbs is not None else None,
        ends=list(truth.ENDS),
        holds=list(truth.HOLDS),
    )
    return tuple(_entry(row) for row in rows)


def _entry(row: Row) -> LogEntry:
    replacement: dict[str, str] = row["replacement"] or {}
    return LogEntry(
        **{name: row[name] for name in ("seq", "ordinal", "verb", "at", "by", "reason", "undone")},
        run_id=row["runId"],
        memory=to_memory(row),
        replacement=replacement.get("id"),
        replacement_text=replacement.get("text"),
    )
