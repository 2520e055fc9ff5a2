"""An agent's handle for programs without an event loop: each verb is that of :class:`AsyncAgent`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from graphmem.async_agent import AsyncAgent
from graphmem.cognition.messages import Message
from graphmem.cognition.observe import NewItem
from graphmem.living import Living
from graphmem.models import (
    PAPER,
    RECALL,
    AgentImport,
    AgentInfo,
    AnyMemory,
    ArchiveReport,
    ChangeReport,
    Dependents,
    ForgetReport,
    HistoryEvent,
    Hits,
    Imported,
    Kind,
    LogEntry,
    Mode,
    Observation,
    Observed,
    Profile,
    Provenance,
    Reappraised,
    ReappraiseReport,
    RecomputeReport,
    ReflectReport,
    RunDetails,
    RunInfo,
    Status,
    TimelineEvent,
    UnarchiveReport,
    Usage,
    Violation,
    Weights,
)
from graphmem.models.calibration import Calibration, Question
from graphmem.models.context import Context
from graphmem.threads import documented_by


@documented_by(AsyncAgent)
class Agent(Living):
    """One agent's memory, synchronously: each method is that of :class:`AsyncAgent`, run on the memory's own loop."""

    def configure(
        self,
        *,
        name: str | None = None,
        traits: str | None = None,
        time_zone: str | None = None,
        clock: datetime | None = None,
        reflection_threshold: int | None = None,
        reflection_every: int | None = None,
    ) -> AgentInfo:
        """See :meth:`AsyncAgent.configure`."""
        return self._portal.call(
            partial(
                self._agent.configure,
                name=name,
                traits=traits,
                time_zone=time_zone,
                clock=clock,
                reflection_threshold=reflection_threshold,
                reflection_every=reflection_every,
            )
        )

    def info(self) -> AgentInfo:
        """See :meth:`AsyncAgent.info`."""
        return self._portal.call(self._agent.info)

    def observe(
        self,
        text: str,
        *,
        kind: str | None = None,
        importance: int | None = None,
        occurred_at: object = None,
        source: str | None = None,
        session: str | None = None,
        place: str | None = None,
        key: str | None = None,
        id: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        keywords: Sequence[str] | None = None,
        now: object = None,
        ask: bool = False,
        resolve: bool = False,
    ) -> Observation:
        """See :meth:`AsyncAgent.observe`."""
        return self._portal.call(
            partial(
                self._agent.observe,
                text,
                kind=kind,
                importance=importance,
                occurred_at=occurred_at,
                source=source,
                session=session,
                place=place,
                key=key,
                id=id,
                subject=subject,
                predicate=predicate,
                object=object,
                keywords=keywords,
                now=now,
                ask=ask,
                resolve=resolve,
            )
        )

    def observe_many(
        self,
        items: Iterable[NewItem],
        *,
        now: object = None,
        ask: bool = False,
        resolve: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Observed:
        """See :meth:`AsyncAgent.observe_many`."""
        return self._portal.call(
            partial(self._agent.observe_many, items, now=now, ask=ask, resolve=resolve, progress=progress)
        )

    def observe_messages(
        self, messages: Iterable[Message], *, session: str | None = None, now: object = None, ask: bool = False
    ) -> Observed:
        """See :meth:`AsyncAgent.observe_messages`."""
        return self._portal.call(partial(self._agent.observe_messages, messages, session=session, now=now, ask=ask))

    def import_memories(self, given: AgentImport, *, progress: Callable[[int], None] | None = None) -> Imported:
        """See :meth:`AsyncAgent.import_memories`."""
        return self._portal.call(partial(self._agent.import_memories, given, progress=progress))

    def retrieve(
        self,
        query: str,
        *,
        k: int = 10,
        profile: Profile = PAPER,
        weights: Weights | None = None,
        kinds: Sequence[Kind] | None = None,
        since: object = None,
        until: object = None,
        place: str | None = None,
        source: str | None = None,
        max_inferred: int | None = None,
        evidence: int = 0,
        token_budget: int | None = None,
        touch: bool = True,
        as_of: object = None,
        now: object = None,
    ) -> Hits:
        """See :meth:`AsyncAgent.retrieve`."""
        return self._portal.call(
            partial(
                self._agent.retrieve,
                query,
                k=k,
                profile=profile,
                weights=weights,
                kinds=kinds,
                since=since,
                until=until,
                place=place,
                source=source,
                max_inferred=max_inferred,
                evidence=evidence,
                token_budget=token_budget,
                touch=touch,
                as_of=as_of,
                now=now,
            )
        )

    def calibrate(
        self,
        questions: Iterable[Question | Mapping[str, Any]],
        *,
        start: Profile = RECALL,
        now: object = None,
        progress: Callable[[str], None] | None = None,
    ) -> Calibration:
        """See :meth:`AsyncAgent.calibrate`."""
        return self._portal.call(partial(self._agent.calibrate, questions, start=start, now=now, progress=progress))

    def context(
        self,
        task: str,
        *,
        token_budget: int = 1500,
        profile: Profile = RECALL,
        touch: bool = True,
        now: object = None,
    ) -> Context:
        """See :meth:`AsyncAgent.context`."""
        return self._portal.call(
            partial(self._agent.context, task, token_budget=token_budget, profile=profile, touch=touch, now=now)
        )

    def share(self, id: str, *, with_: str, now: object = None) -> Observation:
        """See :meth:`AsyncAgent.share`."""
        return self._portal.call(partial(self._agent.share, id, with_=with_, now=now))

    def reflect(self, *, force: bool = False, now: object = None) -> ReflectReport:
        """See :meth:`AsyncAgent.reflect`."""
        return self._portal.call(partial(self._agent.reflect, force=force, now=now))

    def supersede(
        self,
        old: str,
        *,
        text: str | None = None,
        by: str | None = None,
        mode: Mode = "correction",
        reason: str = "",
        now: object = None,
    ) -> ChangeReport:
        """See :meth:`AsyncAgent.supersede`."""
        return self._portal.call(
            partial(self._agent.supersede, old, text=text, by=by, mode=mode, reason=reason, now=now)
        )

    def retract(self, id: str, *, reason: str = "", now: object = None) -> ChangeReport:
        """See :meth:`AsyncAgent.retract`."""
        return self._portal.call(partial(self._agent.retract, id, reason=reason, now=now))

    def restore(self, id: str, *, reason: str = "", now: object = None) -> ChangeReport:
        """See :meth:`AsyncAgent.restore`."""
        return self._portal.call(partial(self._agent.restore, id, reason=reason, now=now))

    def forget(
        self,
        id: str,
        *,
        dependents: Dependents = "recompute",
        terms: Iterable[str] = (),
        dry_run: bool = False,
        now: object = None,
    ) -> ForgetReport:
        """See :meth:`AsyncAgent.forget`."""
        return self._portal.call(
            partial(self._agent.forget, id, dependents=dependents, terms=terms, dry_run=dry_run, now=now)
        )

    def archive(
        self, *, older_than: object, importance_below: int, dry_run: bool = False, now: object = None
    ) -> ArchiveReport:
        """See :meth:`AsyncAgent.archive`."""
        return self._portal.call(
            partial(
                self._agent.archive, older_than=older_than, importance_below=importance_below, dry_run=dry_run, now=now
            )
        )

    def unarchive(self, ids: Iterable[str] | None = None, *, now: object = None) -> UnarchiveReport:
        """See :meth:`AsyncAgent.unarchive`."""
        return self._portal.call(partial(self._agent.unarchive, ids, now=now))

    def recompute(
        self,
        *,
        limit: int | None = None,
        now: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> RecomputeReport:
        """See :meth:`AsyncAgent.recompute`."""
        return self._portal.call(partial(self._agent.recompute, limit=limit, now=now, progress=progress))

    def must_exist(self) -> None:
        """See :meth:`AsyncAgent.must_exist`."""
        self._portal.call(self._agent.must_exist)

    def get(self, id: str) -> AnyMemory:
        """See :meth:`AsyncAgent.get`."""
        return self._portal.call(partial(self._agent.get, id))

    def resolve(self, prefix: str) -> str:
        """See :meth:`AsyncAgent.resolve`."""
        return self._portal.call(partial(self._agent.resolve, prefix))

    def memories(
        self,
        *,
        type: str | None = None,
        status: Status | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[AnyMemory, ...]:
        """See :meth:`AsyncAgent.memories`."""
        return self._portal.call(partial(self._agent.memories, type=type, status=status, limit=limit, after=after))

    def about(
        self, entity: str, *, status: Status | None = "active", limit: int = 100, after: str | None = None
    ) -> tuple[AnyMemory, ...]:
        """See :meth:`AsyncAgent.about`."""
        return self._portal.call(partial(self._agent.about, entity, status=status, limit=limit, after=after))

    def explain(self, id: str, *, as_of: object = None) -> Provenance:
        """See :meth:`AsyncAgent.explain`."""
        return self._portal.call(partial(self._agent.explain, id, as_of=as_of))

    def tree(self) -> Provenance:
        """See :meth:`AsyncAgent.tree`."""
        return self._portal.call(self._agent.tree)

    def history(self, id: str) -> tuple[HistoryEvent, ...]:
        """See :meth:`AsyncAgent.history`."""
        return self._portal.call(self._agent.history, id)

    def log(self, *, limit: int = 100, before: int | None = None) -> tuple[LogEntry, ...]:
        """See :meth:`AsyncAgent.log`."""
        return self._portal.call(partial(self._agent.log, limit=limit, before=before))

    def review(self, *, limit: int = 100, before: int | None = None) -> tuple[LogEntry, ...]:
        """See :meth:`AsyncAgent.review`."""
        return self._portal.call(partial(self._agent.review, limit=limit, before=before))

    def timeline(self, *, limit: int = 100, before: object = None) -> tuple[TimelineEvent, ...]:
        """See :meth:`AsyncAgent.timeline`."""
        return self._portal.call(partial(self._agent.timeline, limit=limit, before=before))

    def runs(self, *, limit: int = 100) -> tuple[RunInfo, ...]:
        """See :meth:`AsyncAgent.runs`."""
        return self._portal.call(partial(self._agent.runs, limit=limit))

    def run(self, id: str) -> RunDetails:
        """See :meth:`AsyncAgent.run`."""
        return self._portal.call(self._agent.run, id)

    def feedback(self, id: str, *, useful: bool, reason: str = "", now: object = None) -> Reappraised:
        """See :meth:`AsyncAgent.feedback`."""
        return self._portal.call(partial(self._agent.feedback, id, useful=useful, reason=reason, now=now))

    def reappraise(self, *, limit: int = 50, now: object = None) -> ReappraiseReport:
        """See :meth:`AsyncAgent.reappraise`."""
        return self._portal.call(partial(self._agent.reappraise, limit=limit, now=now))

    def usage(self) -> Usage:
        """See :meth:`AsyncAgent.usage`."""
        return self._portal.call(self._agent.usage)

    def export_memories(self) -> AgentImport:
        """See :meth:`AsyncAgent.export_memories`."""
        return self._portal.call(self._agent.export_memories)

    def check(self) -> tuple[Violation, ...]:
        """See :meth:`AsyncAgent.check`."""
        return self._portal.call(self._agent.check)
