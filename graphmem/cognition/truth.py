"""The operations of truth maintenance that several verbs share; each runs inside the caller's transaction.

The rules are in docs/truth.md. The caller has locked the agent before it calls any of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from graphmem.cognition.engine import unknown_agent
from graphmem.errors import StoreInconsistent
from graphmem.graph.store import Transaction
from graphmem.models import Mode, Status

ENDS: dict[str, Status] = {
    "supersede": "superseded",
    "retract": "retracted",
    "recompute:revised": "superseded",
    "recompute:retracted": "retracted",
    "resolve:superseded": "superseded",
    "resolve:retracted": "retracted",
    "key:superseded": "superseded",
    "restore:retracted": "retracted",
    "forget": "forgotten",
    "archive": "archived",
    "plan:superseded": "superseded",
    "summarise:superseded": "superseded",
}
"""Verbs of the log that end a memory or put it away, each with the status that it leaves."""
HOLDS = ("restore", "key:restored", "unarchive")
"""Verbs of the log after which a memory is held again."""
BY_KEY = ("key:superseded", "key:restored")
"""Verbs of the log by which the order of a key changed what is held; the value itself stands as before."""


@dataclass
class Revision:
    """One change of belief of an agent: its number, and the changes logged under it so far."""

    agent_id: str
    seq: int
    now: datetime
    _ordinals: int = field(default=0)

    async def not_before(self, tx: Transaction, ids: Sequence[str]) -> None:
        """Date it no earlier than these memories were known and last changed, whatever time the caller gave."""
        turns = [verb for verb in (*ENDS, *HOLDS) if verb not in BY_KEY]
        row = await tx.one("truth/latest", agentId=self.agent_id, ids=list(ids), turns=turns)
        if row is not None and row["at"] is not None:
            self.now = max(self.now, row["at"])

    async def log(
        self,
        tx: Transaction,
        memory_id: str,
        verb: str,
        *,
        by: str,
        reason: str,
        importance: tuple[int, int] | None = None,
        run_id: str | None = None,
    ) -> None:
        """Append to the audit log; ``importance``: before and after, where that changed."""
        await self.log_all(tx, [(memory_id, verb, reason)], by=by, importance=importance, run_id=run_id)

    async def log_all(
        self,
        tx: Transaction,
        entries: Sequence[tuple[str, str, str]],
        *,
        by: str,
        importance: tuple[int, int] | None = None,
        run_id: str | None = None,
        moments: Sequence[datetime] | None = None,
    ) -> None:
        """Append entries of (id of the memory, verb, reason) to the audit log; ``moments``: when each is dated."""
        before, after = importance or (None, None)
        rows = [
            {"id": id_, "verb": verb, "reason": reason, "ordinal": ordinal, "before": before, "after": after, "at": at}
            for ordinal, ((id_, verb, reason), at) in enumerate(
                zip(entries, moments or [None] * len(entries), strict=True), start=self._ordinals
            )
        ]
        await tx.run(
            "truth/change", agentId=self.agent_id, seq=self.seq, entries=rows, now=self.now, by=by, runId=run_id
        )
        self._ordinals += len(rows)


async def begin(tx: Transaction, agent_id: str, now: datetime) -> Revision:
    """Lock the agent and count a change of belief.

    Raises:
        UnknownAgent: When there is none of that id.
    """
    row = await tx.one("agent/revise", agentId=agent_id)
    if row is None:
        raise unknown_agent(agent_id)
    return Revision(agent_id, row["revision"], now)


@dataclass(frozen=True)
class Relabelled:
    """What changed above a change, as ids."""

    stale: tuple[str, ...]
    """Turned stale, the shallowest first."""
    active: tuple[str, ...]
    """Turned active again."""


async def relabel(tx: Transaction, revision: Revision, changed: Iterable[str]) -> Relabelled:
    """Restore the one rule of staleness above these memories, at any depth, and bring depths up to date."""
    ids = sorted(set(changed))
    await _deepen(tx, revision.agent_id, ids)
    row = await tx.one("truth/relabel", agentId=revision.agent_id, ids=ids, now=revision.now)
    assert row is not None  # It aggregates without a grouping key.
    was, now = set(row["wasStale"]), set(row["nowStale"])
    turned = tuple(id_ for id_ in row["nowStale"] if id_ not in was)
    return Relabelled(stale=turned, active=tuple(sorted(was - now)))


async def _deepen(tx: Transaction, agent_id: str, ids: Sequence[str]) -> None:
    """Bring depths up to date, level by level.

    Raises:
        StoreInconsistent: When that has no end, since memories rest on themselves.
    """
    pending, rounds = ids, 0
    while pending:
        rows = await tx.run("truth/depth", agentId=agent_id, ids=pending)
        pending = [row["id"] for row in rows]
        rounds += 1
        # Counted only where it goes far: there cannot be more levels than memories.
        if pending and rounds % _LEVELS == 0:
            counted = await tx.one("truth/reflections", agentId=agent_id)
            if counted is None or rounds > counted["reflections"]:
                raise StoreInconsistent(
                    f"memories of agent {agent_id!r} rest on themselves, {pending[0]!r} among them",
                    remedy="graphmem doctor names what is wrong in the graph of an agent",
                )


_LEVELS = 100


Cause = Literal["caller", "resolve", "key", "recompute", "restore", "replan", "summarise"]
"""What ended a memory: what recompute ended, a restore of its grounds revokes; what a later value of its key ended, the
retraction of that value does."""


async def end(
    tx: Transaction, revision: Revision, memory_id: str, status: Literal["superseded", "retracted"], *, cause: Cause
) -> None:
    """End a memory's belief."""
    await end_all(tx, revision, [memory_id], status, cause=cause)


async def end_all(
    tx: Transaction, revision: Revision, ids: Sequence[str], status: Literal["superseded", "retracted"], *, cause: Cause
) -> None:
    """End the belief of memories that are held.

    Raises:
        StoreInconsistent: When one of them is not there.
    """
    row = await tx.one(
        "truth/end", agentId=revision.agent_id, ids=list(ids), status=status, cause=cause, now=revision.now
    )
    if row is None or row["ended"] != len(ids):
        raise StoreInconsistent(f"of the memories {', '.join(ids)} some vanished while they were ended")


async def supersede(
    tx: Transaction,
    revision: Revision,
    *,
    older: str,
    newer: str,
    mode: Mode,
    reason: str,
    by: str,
    cause: Cause,
    made: bool,
) -> None:
    """End the older memory and say what stands in its place; ``made``: the newer one was written for that."""
    await end(tx, revision, older, "superseded", cause=cause)
    rows = await tx.run(
        "truth/supersede",
        agentId=revision.agent_id,
        newer=newer,
        older=older,
        now=revision.now,
        mode=mode,
        reason=reason,
        by=by,
        made=made,
    )
    if len(rows) != 1:
        raise StoreInconsistent(f"{newer!r} could not be made to supersede {older!r}")


async def statuses(tx: Transaction, agent_id: str, ids: Sequence[str]) -> dict[str, str]:
    """The status of each of these memories; those that are missing are left out."""
    rows = await tx.run("truth/status", agentId=agent_id, ids=list(ids))
    return {row["id"]: row["status"] for row in rows}


async def resting_on(tx: Transaction, agent_id: str, target: str, ids: Sequence[str]) -> set[str]:
    """Those of these memories that rest on the target, chains of supersession followed, the target included."""
    if not ids:
        return set()
    rows = await tx.run("truth/rests_on", agentId=agent_id, target=target, ids=list(ids))
    return {row["id"] for row in rows}
