"""The reading half of an agent's handle: looking up, explaining and checking. One line a verb."""

from __future__ import annotations

from graphmem.cognition import checks, explain, history, look_up, runs, save, timeline
from graphmem.cognition.engine import Engine, checked_id
from graphmem.models import (
    AgentImport,
    AgentInfo,
    AnyMemory,
    HistoryEvent,
    LogEntry,
    Provenance,
    RunDetails,
    RunInfo,
    Status,
    TimelineEvent,
    Usage,
    Violation,
)
from graphmem.tracing import traced


@traced
class AsyncReading:
    """What an agent's handle reads without changing anything: see :class:`graphmem.async_agent.AsyncAgent`."""

    def __init__(self, engine: Engine, agent_id: str) -> None:
        self.id = checked_id(agent_id, "agent")
        self._engine = engine

    async def info(self) -> AgentInfo:
        """The agent and how much it remembers.

        Raises:
            UnknownAgent: When nothing was ever written for it.
        """
        return await look_up.info(self._engine, self.id)

    async def must_exist(self) -> None:
        """Tell an agent that was never written to from one with an empty memory, which is read alike.

        Raises:
            UnknownAgent: When nothing was ever written for it.
        """
        await look_up.must_exist(self._engine.store, self.id)

    async def get(self, id: str) -> AnyMemory:
        """One memory by its full id.

        Raises:
            UnknownMemory: When this agent has none of that id.
        """
        return await look_up.get(self._engine, self.id, id)

    async def resolve(self, prefix: str) -> str:
        """The full id that a shortened one stands for.

        Raises:
            UnknownMemory: When none begins so.
            AmbiguousId: When several do.
        """
        return await look_up.resolve(self._engine, self.id, prefix)

    async def memories(
        self,
        *,
        type: str | None = None,
        status: Status | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[AnyMemory, ...]:
        """A page of memories in the order of their ids; ``after`` is the last id of the page before.

        Raises:
            InvalidInput: When the type, status or limit is refused.
        """
        return await look_up.memories(self._engine, self.id, type=type, status=status, limit=limit, after=after)

    async def about(
        self, entity: str, *, status: Status | None = "active", limit: int = 100, after: str | None = None
    ) -> tuple[AnyMemory, ...]:
        """A page of the memories that name an entity as subject, object, source or keyword, latest first.

        Exact, letter by letter; texts are not searched. A status of None stands for every status, ``after`` is the
        last id of the page before.

        Raises:
            InvalidInput: When the name, the status or the limit is refused.
            UnknownMemory: When there is no memory ``after``.
        """
        return await look_up.about(self._engine, self.id, entity, status=status, limit=limit, after=after)

    async def explain(self, id: str, *, as_of: object = None) -> Provenance:
        """What a memory rests on, down to the observations; with ``as_of`` what it rested on at that moment, and why.

        Raises:
            UnknownMemory: When this agent has none of that id, or had none by then.
        """
        return await explain.explain(self._engine, self.id, id, as_of=as_of)

    async def tree(self) -> Provenance:
        """All held reflections, from those that nothing rests on down to the observations."""
        return await explain.tree(self._engine, self.id)

    async def history(self, id: str) -> tuple[HistoryEvent, ...]:
        """All that happened to a memory: how it came about, then what changed about it and why, in order.

        Raises:
            UnknownMemory: When this agent has none of that id.
        """
        return await history.history(self._engine, self.id, id)

    async def log(self, *, limit: int = 100, before: int | None = None) -> tuple[LogEntry, ...]:
        """Every change of belief, latest first; ``before`` a revision, for the next page.

        Raises:
            InvalidInput: When the limit is not from 1 to 10,000.
        """
        return await history.log(self._engine, self.id, limit=limit, before=before)

    async def review(self, *, limit: int = 100, before: int | None = None) -> tuple[LogEntry, ...]:
        """What a language model ended on its own, latest first, with its reason and run; ``restore`` undoes it.

        Raises:
            InvalidInput: When the limit is not from 1 to 10,000.
        """
        return await history.log(self._engine, self.id, limit=limit, before=before, verbs=history.RESOLVED)

    async def timeline(self, *, limit: int = 100, before: object = None) -> tuple[TimelineEvent, ...]:
        """The latest that happened to all memories, in order; ``before`` a time, for the page before.

        Raises:
            InvalidInput: When the limit is not from 1 to 10,000, or the time has no zone.
        """
        return await timeline.timeline(self._engine, self.id, limit=limit, before=before)

    async def runs(self, *, limit: int = 100) -> tuple[RunInfo, ...]:
        """What was asked of a language model, newest first, with what of it was refused.

        Raises:
            InvalidInput: When the limit is not from 1 to 10,000.
        """
        return await runs.runs(self._engine, self.id, limit=limit)

    async def run(self, id: str) -> RunDetails:
        """One run, with the memories that its prompts showed and those that it wrote.

        Raises:
            UnknownRun: When this agent has none of that id.
        """
        return await runs.run(self._engine, self.id, id)

    async def usage(self) -> Usage:
        """What was asked of a language model has cost: tokens, and US dollars where prices are known."""
        return await runs.usage(self._engine, self.id)

    async def export_memories(self) -> AgentImport:
        """What the agent holds, in the form in which ``import_memories`` of another store takes it.

        Raises:
            UnknownAgent: When nothing was ever written for it.
        """
        return await save.export_memories(self._engine, self.id)

    async def check(self) -> tuple[Violation, ...]:
        """Everything about the agent that breaks an invariant; empty when all is well."""
        return await checks.check(self._engine, self.id)
