"""Retention: what is old, of little importance, unused, and what no memory rests on is put away, and can be taken out.

The paper's stream only grows. Archived memories stay in the graph with all that was ever said about them; retrieval
does not see them, except ``as_of`` a moment at which they were held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from graphmem.clock import as_duration
from graphmem.cognition import truth
from graphmem.cognition.engine import CALLER, Engine, checked_id, fetch, lock, unknown_agent, unknown_memory
from graphmem.cognition.given import checked_list
from graphmem.errors import InvalidInput, InvalidTime, NotArchived, StoreInconsistent
from graphmem.graph.records import scope_token
from graphmem.graph.store import Row, Transaction
from graphmem.models import ArchiveReport, Changed, Kept, UnarchiveReport

BATCH = 1_000
"""Memories that one transaction puts away or takes out: each is indexed again, which costs milliseconds."""
MOST_TOLD = 100
"""Memories that a report holds whole; beyond, their ids."""


async def archive(
    engine: Engine,
    agent_id: str,
    *,
    older_than: object,
    importance_below: int,
    dry_run: bool = False,
    now: object = None,
) -> ArchiveReport:
    """Put observations away that are old, of little importance and unused, and on which nothing rests.

    Args:
        engine: The open store with its models.
        agent_id: Whose observations.
        older_than: A timedelta or a text such as ``90d``: what happened, was recorded and was last retrieved longer
            ago than this.
        importance_below: What is less important than this, from 2 to 11.
        dry_run: Only tell what would be put away.
        now: The time from which the age counts, and of the change.

    Raises:
        InvalidInput: When the policy is refused; InvalidTime where it is the age or the time.
        UnknownAgent: When there is no such agent.
    """
    if isinstance(importance_below, bool) or not isinstance(importance_below, int) or not 2 <= importance_below <= 11:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"importance_below: {importance_below!r} is not a whole number from 2 to 11",
            remedy="importance goes from 1 to 10: 3 puts away what has 1 or 2, 11 what has any",
        )
    age = as_duration(older_than)
    at = await engine.now(agent_id, now)
    try:
        before = at - age
    except OverflowError as error:
        raise InvalidTime(f"older_than: {older_than!r} is longer than there has been time") from error
    if not await engine.store.query("agent/state", agentId=agent_id):
        raise unknown_agent(agent_id)
    policy = _Policy(agent_id, before, importance_below)
    levels = list(range(1, importance_below))
    found = await engine.store.query("retention/old", agentId=agent_id, levels=levels, before=before)
    kept: Counter[Kept] = Counter()
    ids: list[str] = []
    revision = None
    for start in range(0, len(found), BATCH):
        some = [row["id"] for row in found[start : start + BATCH]]
        if dry_run:
            rows = await engine.store.read(partial(policy.judge, ids=some))
        else:
            rows, seq = await engine.store.write(partial(policy.carry_out, ids=some, now=at))
            revision = seq or revision
        chosen = [row["id"] for row in rows if row["kept"] is None]
        kept.update(row["kept"] for row in rows if row["kept"] is not None)
        ids += chosen
        if chosen and revision is not None:
            await engine.tell(Changed(agent_id=agent_id, verb="archive", revision=revision, ended=tuple(chosen)))
    told = await engine.store.read(lambda tx: fetch(tx, agent_id, ids[:MOST_TOLD]))
    return ArchiveReport(
        agent_id=agent_id,
        dry_run=dry_run,
        before=before,
        importance_below=importance_below,
        ids=tuple(ids),
        memories=tuple(told[id_] for id_ in ids[:MOST_TOLD]),
        kept=dict(kept),
        revision=revision,
    )


@dataclass(frozen=True)
class _Policy:
    """What is to be put away."""

    agent_id: str
    before: datetime
    importance_below: int

    async def judge(self, tx: Transaction, ids: Sequence[str]) -> list[Row]:
        """Those of these memories that the policy is about, each with what keeps it, if anything does."""
        return await tx.run(
            "retention/judge",
            agentId=self.agent_id,
            ids=list(ids),
            importanceBelow=self.importance_below,
            before=self.before,
        )

    async def carry_out(self, tx: Transaction, ids: Sequence[str], now: datetime) -> tuple[list[Row], int | None]:
        """Put away those that nothing keeps; judged under the lock, since they may have been used meanwhile.

        Returns:
            What was judged, and the revision of the change where there was one.
        """
        await lock(tx, self.agent_id)
        rows = await self.judge(tx, ids)
        chosen = [row["id"] for row in rows if row["kept"] is None]
        if not chosen:
            return rows, None
        change = await truth.begin(tx, self.agent_id, now)
        done = await tx.one("retention/archive", agentId=self.agent_id, ids=chosen)
        if done is None or done["archived"] != len(chosen):
            raise StoreInconsistent(f"of {len(chosen)} memories some vanished while they were put away")
        reason = f"before {self.before.isoformat(timespec='seconds')}, importance below {self.importance_below}"
        await change.log_all(tx, [(id_, "archive", reason) for id_ in chosen], by=CALLER)
        return rows, change.seq


async def unarchive(
    engine: Engine, agent_id: str, ids: Iterable[str] | None = None, *, now: object = None
) -> UnarchiveReport:
    """Take out what was put away: it is held, active and retrieved again.

    Args:
        engine: The open store with its models.
        agent_id: Whose memories.
        ids: Which; None: all that are archived.
        now: The time of the change.

    Raises:
        InvalidInput: When an id is refused.
        UnknownAgent: When there is no such agent.
        UnknownMemory: When it has none of an id. Nothing was taken out.
        NotArchived: When one of them is not archived. Nothing was taken out.
    """
    given = checked_list(ids, "ids") if ids is not None else None
    at = await engine.now(agent_id, now)
    if not await engine.store.query("agent/state", agentId=agent_id):
        raise unknown_agent(agent_id)
    if given is None:
        wanted = [row["id"] for row in await engine.store.query("retention/archived", agentId=agent_id)]
    else:
        wanted = list(dict.fromkeys(checked_id(id_) for id_ in given))
        await engine.store.read(lambda tx: _check_archived(tx, agent_id, wanted))
    revision = None
    done: list[str] = []
    for start in range(0, len(wanted), BATCH):
        taken, revision = await engine.store.write(
            partial(_take_out, agent_id=agent_id, ids=wanted[start : start + BATCH], now=at)
        )
        done += taken
        await engine.tell(Changed(agent_id=agent_id, verb="unarchive", revision=revision, held=tuple(taken)))
    return UnarchiveReport(agent_id=agent_id, ids=tuple(done), revision=revision)


async def _take_out(tx: Transaction, agent_id: str, ids: Sequence[str], now: datetime) -> tuple[list[str], int]:
    change = await truth.begin(tx, agent_id, now)
    row = await tx.one("retention/unarchive", agentId=agent_id, ids=list(ids), scopeToken=scope_token(agent_id))
    taken: list[str] = row["ids"] if row else []
    await change.log_all(tx, [(id_, "unarchive", "") for id_ in taken], by=CALLER)
    return taken, change.seq


async def _check_archived(tx: Transaction, agent_id: str, ids: Sequence[str]) -> None:
    found = await truth.statuses(tx, agent_id, ids)
    for id_ in ids:
        if id_ not in found:
            raise unknown_memory(agent_id, id_)
        if found[id_] != "archived":
            raise NotArchived(
                f"memory {id_!r} is {found[id_]}, not archived",
                remedy="graphmem undo holds again what was superseded or retracted",
            )
