"""Recomputing what turned stale, from the bottom up: confirmed, revised, retracted, or failed for now.

A stale memory is ready when nothing that it rests on, or that stands in the place of what it rested on, is stale.
Ready ones are leased, thought about outside any transaction, and written only when the lease still holds and the
evidence is still what was shown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from secrets import token_hex

from graphmem.cognition import grounding, summaries, truth
from graphmem.cognition.engine import Engine, fetch_one, lock, tidy_up
from graphmem.cognition.leases import LEASE_SECONDS, kept
from graphmem.cognition.runs import Run
from graphmem.errors import InvalidInput, ReplyRefused, UnknownAgent
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.language.gates import normalise_text, shorten
from graphmem.language.prompts import Insight, Reconsider, Reconsidered
from graphmem.models import (
    AnyMemory,
    Changed,
    Recomputed,
    RecomputeOutcome,
    RecomputeReport,
    Reflection,
    Refused,
    RunRef,
)

BACKOFF_SECONDS = 30
"""Wait after the first failed attempt; doubled after each."""

_NOTHING_LEFT = "nothing is left of what it rested on"


@dataclass(frozen=True)
class _Evidence:
    """What a stale memory may rest on now."""

    active: tuple[AnyMemory, ...]
    """Each once: grounds that hold, and the heads of those that were superseded."""
    past: tuple[AnyMemory, ...]
    """Grounds that were true until an update superseded them, shown as such."""
    changes: tuple[str, ...]
    """What happened to each ground that ended, for the prompt and the report."""
    retired_texts: frozenset[str]
    """Normalised texts of grounds that ended: to repeat one is an echo."""
    moved: dict[str, str]
    """By the id of a ground that ended, the active memory that stands in its place."""
    waits: bool
    """Whether one of them is stale: it has to be recomputed first."""

    @property
    def shown(self) -> tuple[AnyMemory, ...]:
        """What the model sees, in the order of its numbers."""
        return self.active + self.past

    def same(self, other: _Evidence) -> bool:
        """Whether a model that was shown the one has seen the other: accesses and ratings do not count."""
        ids = [[memory.id for memory in evidence.shown] for evidence in (self, other)]
        return ids[0] == ids[1] and (self.changes, self.waits) == (other.changes, other.waits)


async def recompute(
    engine: Engine,
    agent_id: str,
    *,
    limit: int | None = None,
    now: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> RecomputeReport:
    """Work off stale reflections that are ready, until none is left or the limit is reached.

    Args:
        engine: The open store with its models.
        agent_id: Whose memories.
        limit: Most memories to recompute, failed ones included; None: all.
        now: The time of the changes.
        progress: Called with how many are done and how many stale ones remain.

    Raises:
        InvalidInput: When the limit is not a whole number above 0.
        LanguageModelError, EmbeddingError, StoreError: What was recomputed before stays; the rest stays stale.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"limit: {limit!r} is not a whole number above 0")
    at = await engine.now(agent_id, now)
    worker = _Worker(engine, Run(agent_id, at), token_hex(8))
    items: list[Recomputed] = []
    try:
        # One at a time: a lease then lasts for one answer of the model, and readiness is looked at afresh.
        while (limit is None or len(items) < limit) and (memory_id := await worker.lease()):
            async with kept(worker.renew):
                items += await worker.recompute(memory_id)
            if progress:
                progress(len(items), (await _left(engine, agent_id))["remaining"])
        await worker.stop()
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
        await tidy_up(lambda: worker.stop(failed=message))
        raise
    left = await _left(engine, agent_id)
    return RecomputeReport(items=tuple(items), remaining=left["remaining"], elsewhere=left["leased"])


async def _left(engine: Engine, agent_id: str) -> Row:
    return (await engine.store.query("recompute/remaining", agentId=agent_id))[0]


class _Worker:
    """One call of recompute: its leases and its run, which is opened when a model is first asked."""

    def __init__(self, engine: Engine, run: Run, token: str) -> None:
        self.engine = engine
        self.run = run
        self.token = token
        self._opened = False
        self._leased: str | None = None
        self._about = summaries.About()
        """What the text may say beside its evidence, and keeps."""
        self._changed: Changed | None = None
        """What the last outcome changed, for the listeners."""

    async def lease(self) -> str | None:
        """Lease the lowest memory that is stale and ready; none for an agent that was never written to."""
        agent_id = self.run.agent_id

        async def work(tx: Transaction) -> str | None:
            await lock(tx, agent_id)
            row = await tx.one(
                "recompute/claim", agentId=agent_id, token=self.token, limit=1, leaseSeconds=LEASE_SECONDS
            )
            # Noted before the commit: whoever is cancelled in it cannot know whether it was made.
            self._leased = row["id"] if row else None
            return self._leased

        try:
            return await self.engine.store.write(work)
        except UnknownAgent:
            return None

    async def renew(self) -> None:
        """Show that what is leased is still worked on, and that the run lives."""

        async def work(tx: Transaction) -> None:
            await lock(tx, self.run.agent_id)
            await tx.run(
                "recompute/renew",
                agentId=self.run.agent_id,
                id=self._leased,
                token=self.token,
                leaseSeconds=LEASE_SECONDS,
            )
            await self.run.renew(tx)

        await self.engine.store.write(work)

    async def stop(self, failed: str | None = None) -> None:
        """Give up what is still leased, and close the run; ``failed`` with what left it."""

        async def work(tx: Transaction) -> None:
            await lock(tx, self.run.agent_id)
            if self._leased:
                await self._release(tx, self._leased)
            if self._opened and failed is not None:
                await self.run.abandon(tx, failed)
            elif self._opened:
                await self.run.close(tx, "recomputed")

        if self._leased or self._opened:
            await self.engine.store.write(work)

    async def recompute(self, memory_id: str) -> list[Recomputed]:
        """Recompute one leased memory; nothing when another change came between."""
        memory, evidence = await self.engine.store.read(lambda tx: self._gather(tx, memory_id))
        assert isinstance(memory, Reflection)
        if evidence.waits:
            return await self._settle(lambda tx: self._give_up(tx, memory.id))
        if not evidence.active:
            return await self._settle(lambda tx: self._retract(tx, memory, evidence, _NOTHING_LEFT))
        self._about = await summaries.about(self.engine, memory, self.run.now)
        try:
            reply = await self._reconsider(memory, evidence)
            if reply.verdict == "retracted":
                reason = reply.reason or "it no longer follows from the evidence"
                return await self._settle(lambda tx: self._retract(tx, memory, evidence, reason))
            grounded = self._grounded(memory, reply, evidence)
        except ReplyRefused as error:
            reason = str(error)
            return await self._settle(lambda tx: self._fail(tx, memory, evidence, reason))
        if isinstance(grounded, Refused):
            self.run.refused.append(grounded)
            reason = f"{grounded.gate}: {grounded.reason}"
            return await self._settle(lambda tx: self._fail(tx, memory, evidence, reason))
        if reply.verdict == "confirmed":
            return await self._settle(lambda tx: self._confirm(tx, memory, grounded, evidence))
        (draft,) = await grounding.drafts(
            self.engine, self.run, [grounded], memory.question, kind=memory.kind, properties=self._about.properties
        )
        return await self._settle(lambda tx: self._revise(tx, memory, draft, evidence))

    async def _gather(self, tx: Transaction, memory_id: str) -> tuple[AnyMemory, _Evidence]:
        agent_id = self.run.agent_id
        memory = await fetch_one(tx, agent_id, memory_id)
        active: dict[str, AnyMemory] = {}
        was: dict[str, AnyMemory] = {}
        changes: list[str] = []
        retired: set[str] = set()
        moved: dict[str, str] = {}
        waits = False
        if isinstance(memory, Reflection) and memory.missing_grounds:
            changes.append(f"{memory.missing_grounds} of the memories that it rested on cannot be found")
        for row in await tx.run("recompute/grounds", agentId=agent_id, id=memory_id):
            head = to_memory(row)
            if head.status == "stale":
                waits = True
                continue
            if head.status == "active":
                active[head.id] = head
                if row["ground"]["id"] != head.id:
                    moved[row["ground"]["id"]] = head.id
            if row["past"] is not None:
                was[row["ground"]["id"]] = to_memory({"memory": row["past"], "labels": row["pastLabels"]})
            if row["ground"]["id"] != head.id or head.status != "active":
                changes.append(_told(row, head))
                retired.add(normalise_text(row["ground"]["text"]))
        return memory, _Evidence(
            tuple(active.values()), tuple(was.values()), tuple(changes), frozenset(retired), moved, waits
        )

    async def _reconsider(self, memory: Reflection, evidence: _Evidence) -> Reconsidered:
        if not self._opened:

            async def work(tx: Transaction) -> None:
                await lock(tx, self.run.agent_id)
                await self.run.open(tx, self.engine, "recompute", self.engine.asks(Reconsider))

            self._opened = True
            await self.engine.store.write(work)
        task = Reconsider(
            kind=memory.kind,
            given=self._about.described,
            question=memory.question,
            hypothesis=memory.text,
            statements=grounding.statements(evidence.shown),
            changes=evidence.changes,
        )
        shown: list[Row] = [
            {"id": ground.id, "rank": rank, "score": None} for rank, ground in enumerate(evidence.shown, start=1)
        ]
        reply = await self.run.ask(self.engine, task, shown)
        return reply.value

    def _grounded(self, memory: Reflection, reply: Reconsidered, evidence: _Evidence) -> grounding.Grounded | Refused:
        """Pass the reply through the gates; what merely repeats what has ended is an echo."""
        text = memory.text if reply.verdict == "confirmed" else reply.text
        insight = Insight(text=text, evidence=reply.evidence)
        grounded = grounding.ground(insight, evidence.shown, given=self._about.given)
        if isinstance(grounded, Refused):
            return grounded
        said = normalise_text(grounded.text)
        if reply.verdict == "revised" and (said == normalise_text(memory.text) or said in evidence.retired_texts):
            return Refused(gate="support", reason="an echo of what has ended", item=shorten(grounded.text))
        return grounded

    async def _settle(self, apply: Callable[[Transaction], Awaitable[Recomputed | None]]) -> list[Recomputed]:
        """Run one outcome's transaction; nothing comes of it when another change came between."""
        self._changed = None
        outcome = await self.engine.store.write(apply)
        if self._changed is not None:
            await self.engine.tell(self._changed)
        return [outcome] if outcome is not None else []

    async def _release(self, tx: Transaction, memory_id: str) -> None:
        await tx.run("recompute/release", agentId=self.run.agent_id, ids=[memory_id], token=self.token)

    async def _holds(self, tx: Transaction, memory_id: str, evidence: _Evidence) -> bool:
        """Lock the agent, then look again: is the lease still ours, and the evidence still what the model was shown?

        If not, the work came too late and is dropped. A lease that is still ours is given up, also when the memory
        holds again meanwhile: it could turn stale anew, and is then thought about as soon as it is ready.
        """
        await lock(tx, self.run.agent_id)
        if await tx.run("recompute/check", agentId=self.run.agent_id, id=memory_id, token=self.token):
            _, now = await self._gather(tx, memory_id)
            if now.same(evidence):
                return True
        await self._release(tx, memory_id)
        return False

    async def _finish(
        self,
        tx: Transaction,
        revision: truth.Revision,
        memory: Reflection,
        outcome: RecomputeOutcome,
        reason: str,
        held: str | None = None,
    ) -> None:
        """What every successful outcome ends with."""
        await tx.run("recompute/settle", agentId=self.run.agent_id, id=memory.id)
        by = self.engine.language_model.name
        await revision.log(tx, memory.id, f"recompute:{outcome}", by=by, reason=reason)
        relabelled = await truth.relabel(tx, revision, [memory.id])
        used_by = await tx.run("truth/used_by", agentId=self.run.agent_id, ids=[memory.id])
        self._changed = Changed(
            agent_id=self.run.agent_id,
            verb="recompute",
            revision=revision.seq,
            ended=() if outcome == "confirmed" else (memory.id,),
            held=(held,) if held is not None else (),
            stale=relabelled.stale,
            active=relabelled.active,
            used_by=() if outcome == "confirmed" else tuple(RunRef.model_validate(row) for row in used_by),
        )

    async def _give_up(self, tx: Transaction, memory_id: str) -> None:
        """A ground turned stale after the lease: it is waited for, never dropped."""
        await lock(tx, self.run.agent_id)
        await self._release(tx, memory_id)

    async def _retract(
        self, tx: Transaction, memory: Reflection, evidence: _Evidence, reason: str
    ) -> Recomputed | None:
        if not await self._holds(tx, memory.id, evidence):
            return None
        revision = await truth.begin(tx, self.run.agent_id, self.run.now)
        await revision.not_before(tx, [memory.id])
        await truth.end(tx, revision, memory.id, "retracted", cause="recompute")
        await self._finish(tx, revision, memory, "retracted", reason)
        return Recomputed(id=memory.id, outcome="retracted", before=memory.text, reason=reason)

    async def _confirm(
        self, tx: Transaction, memory: Reflection, grounded: grounding.Grounded, evidence: _Evidence
    ) -> Recomputed | None:
        if not await self._holds(tx, memory.id, evidence):
            return None
        agent_id = self.run.agent_id
        if above := await truth.resting_on(tx, agent_id, memory.id, [item.id for item in grounded.cited]):
            return await self._failed(tx, memory, _circular(above))
        revision = await truth.begin(tx, agent_id, self.run.now)
        await revision.not_before(tx, [memory.id, *(item.id for item in grounded.cited)])
        await tx.run(
            "truth/uncite",
            agentId=agent_id,
            id=memory.id,
            keep=[item.id for item in grounded.cited if not item.past],
            keepPast=[item.id for item in grounded.cited if item.past],
            moved=evidence.moved,
            now=revision.now,
        )
        await grounding.cite(tx, agent_id, memory.id, grounded.cited, revision.now)
        await self._finish(tx, revision, memory, "confirmed", "", held=memory.id)
        return Recomputed(id=memory.id, outcome="confirmed", before=memory.text, after=memory.text)

    async def _revise(
        self, tx: Transaction, memory: Reflection, new: grounding.Draft, evidence: _Evidence
    ) -> Recomputed | None:
        cited = new.grounded.cited
        if not await self._holds(tx, memory.id, evidence):
            return None
        agent_id = self.run.agent_id
        if above := await truth.resting_on(tx, agent_id, memory.id, [item.id for item in cited]):
            return await self._failed(tx, memory, _circular(above))
        # A reflection that says this already takes the place of the old one, and gains its evidence.
        same = await grounding.same_text(tx, agent_id, new.grounded.text, besides=memory.id)
        if same and await truth.resting_on(tx, agent_id, same, [item.id for item in cited]):
            return await self._failed(tx, memory, _circular([same]))
        if same and await truth.resting_on(tx, agent_id, memory.id, [same]):
            return await self._failed(tx, memory, _circular([same]))
        revision = await truth.begin(tx, agent_id, self.run.now)
        await revision.not_before(tx, [memory.id, *(item.id for item in cited), *([same] if same else [])])
        if same:
            await grounding.cite(tx, agent_id, same, cited, revision.now)
        else:
            await grounding.write(tx, self.engine, self.run, new, revision.now)
        await truth.supersede(
            tx,
            revision,
            older=memory.id,
            newer=same or new.id,
            mode="correction",
            reason="recomputed from changed evidence",
            by=self.engine.language_model.name,
            cause="recompute",
            made=same is None,
        )
        await truth.relabel(tx, revision, [same or new.id])
        await self._finish(tx, revision, memory, "revised", "", held=same or new.id)
        return Recomputed(
            id=memory.id,
            outcome="revised",
            before=memory.text,
            after=new.grounded.text,
            new_id=same or new.id,
        )

    async def _fail(self, tx: Transaction, memory: Reflection, evidence: _Evidence, reason: str) -> Recomputed | None:
        if not await self._holds(tx, memory.id, evidence):
            return None
        return await self._failed(tx, memory, reason)

    async def _failed(self, tx: Transaction, memory: Reflection, reason: str) -> Recomputed:
        """The memory stays stale, with the reason and the time of the next attempt; the lease holds."""
        await tx.run(
            "recompute/fail",
            agentId=self.run.agent_id,
            id=memory.id,
            token=self.token,
            error=shorten(reason, 2_000),
            backoffSeconds=BACKOFF_SECONDS,
        )
        return Recomputed(id=memory.id, outcome="failed", before=memory.text, reason=reason)


def _circular(above: Iterable[str]) -> str:
    return f"the evidence rests on the memory itself: {', '.join(sorted(above))}"


def _told(row: Row, head: AnyMemory) -> str:
    """One change of evidence in words."""
    ground = row["ground"]
    if ground["status"] == "forgotten":
        return "something was forgotten" + (f"; now “{head.text}”" if head.status == "active" else "")
    because = f" ({row['reason']})" if row["reason"] else ""
    if head.status == "active":
        return f"“{ground['text']}” was replaced by “{head.text}”{because}"
    return f"“{ground['text']}” no longer holds{because}"
