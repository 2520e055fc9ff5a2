"""The verbs as tools for language models: what models may give, and what they are told, whichever framework asks.

Whose memory it is stands fixed in :class:`Tools`: no argument names an agent, so that no model can reach another's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from graphmem.errors import GraphmemError, InvalidInput, UnknownAgent
from graphmem.models import RECALL, AnyMemory, Dependents, Kind, Mode
from graphmem.models.values import Value

if TYPE_CHECKING:
    from graphmem import AsyncAgent

Effect = Literal["reads", "adds", "changes"]
"""What a tool does to the memory: nothing but noting that something was recalled; only adds; ends what was held."""

EFFECTS: dict[str, Effect] = {
    "remember": "adds",
    "recall": "reads",
    "reflect": "adds",
    "correct": "changes",
    "why": "reads",
    "ask": "adds",
    "plan": "adds",
    "forget": "changes",
}
"""Every tool, a method of :class:`Tools`, by its name."""

_NOTHING_YET = "nothing is remembered yet"
_MOST_TOLD = 50
"""Memories that one answer lists; more are counted."""

MemoryId = Annotated[str, Field(description="The id of a memory, as recall gives it; a beginning of it is enough.")]
Time = Annotated[
    str | None, Field(description="A time with its zone, such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00.")
]


class Told(Value):
    """A memory as a model is told of it."""

    id: str
    type: Literal["observation", "reflection", "plan"]
    """Observed, inferred or intended: a plan is not done, and an inference was not observed."""
    kind: Kind
    text: str
    status: str
    importance: int
    """1–10."""
    occurred_at: datetime
    source: str | None = None
    """Who or what said it."""
    state: str | None = None
    """What became of a plan."""
    start: datetime | None = None
    """Of a plan: from when, and"""
    end: datetime | None = None
    """to when."""

    @classmethod
    def of(cls, memory: AnyMemory) -> Told:
        """What of a memory is told."""
        return cls(
            id=memory.id,
            type=memory.type,
            kind=memory.kind,
            text=memory.text,
            status=memory.status,
            importance=memory.importance,
            occurred_at=memory.occurred_at,
            source=memory.source if memory.type == "observation" else None,
            state=memory.state if memory.type == "plan" else None,
            start=memory.start if memory.type == "plan" else None,
            end=memory.end if memory.type == "plan" else None,
        )


class Remembered(Value):
    """What ``remember`` stored."""

    memory: Told


class Recalled(Value):
    """What ``recall`` found, best first."""

    memories: tuple[Told, ...]
    note: str
    """How much was looked at, and what was held back and why."""


class Reflected(Value):
    """What ``reflect`` concluded."""

    outcome: str
    insights: tuple[Told, ...] = ()
    reinforced: tuple[str, ...] = ()
    """Ids of insights that already said so and gained evidence."""
    refused: tuple[str, ...] = ()
    """What the language model wrote and a check refused, with the reason."""


class Corrected(Value):
    """What ``correct`` changed."""

    was: Told
    now: Told | None = None
    """What holds instead."""
    stale: tuple[Told, ...] = ()
    """What rested on it: withheld until it is brought up to date. The first fifty."""
    note: str


class Why(Value):
    """What a memory rests on, and what happened to it."""

    memory: Told
    grounds: str
    """Drawn as a tree, down to what was observed."""
    history: tuple[str, ...]
    """In order, a line each."""


class Said(Value):
    """One sentence of an answer, with the ids of the memories that bear it out."""

    text: str
    citations: tuple[str, ...]
    inferred: bool
    """Nothing that it cites was perceived or heard."""
    described: bool = False
    """It rests on who the agent is told to be, which is no memory and is not cited."""


class Answered(Value):
    """What ``ask`` can say."""

    text: str
    known: bool
    """Whether memory tells."""
    sentences: tuple[Said, ...]
    note: str


class Planned(Value):
    """A day's plan, as it stands."""

    day: str
    time_zone: str
    plans: tuple[Told, ...]
    """By when they begin, the coarser first; intended, and not to be told as done."""
    now: Told | None = None
    """What is planned for this moment."""
    note: str


class Forgot(Value):
    """What ``forget`` removed, or with ``dry_run`` would remove."""

    dry_run: bool
    forgotten: tuple[str, ...]
    """Ids."""
    stale: tuple[str, ...]
    retracted: tuple[str, ...]
    may_still_say_it: tuple[Told, ...]
    """What rests or rested on it and may say the same in other words. The first fifty."""
    note: str


def checked_handle(agent: object, *handles: type) -> None:
    """Refuse what is no agent, before anything is asked of it.

    Raises:
        InvalidInput: When it is none of these handles.
    """
    if not isinstance(agent, handles):
        known = " or ".join(handle.__name__ for handle in handles)
        kind = "a Memory or an AsyncMemory" if len(handles) > 1 else "an AsyncMemory"
        raise InvalidInput(f"agent: {agent!r:.80} is not an {known}", remedy=f'give memory.agent("…") of {kind}')


def told_error(error: GraphmemError) -> str:
    """An error as a model is told of it: what is wrong, and what to do about it."""
    return f"{error} (what to do: {error.remedy})" if error.remedy else str(error)


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one agent. Each raises ``GraphmemError``, which every framework is told in its own way."""

    agent: AsyncAgent

    def __post_init__(self) -> None:
        from graphmem import AsyncAgent

        checked_handle(self.agent, AsyncAgent)

    def functions(self, names: Sequence[str] = ()) -> dict[str, Callable[..., Awaitable[Value]]]:
        """All tools, or those named, by name.

        Raises:
            ValueError: When there is no tool of a name.
        """
        if unknown := sorted(set(names) - EFFECTS.keys()):
            raise ValueError(f"there is no tool {unknown[0]!r}; the tools are {', '.join(EFFECTS)}")
        return {name: getattr(self, name) for name in EFFECTS if not names or name in names}

    async def remember(
        self,
        text: Annotated[str, Field(description="One statement that stands by itself: names instead of pronouns.")],
        kind: Annotated[
            Literal["event", "utterance", "fact"],
            Field(description="Something that happened, that somebody said, or that is so."),
        ] = "event",
        importance: Annotated[
            int | None, Field(ge=1, le=10, description="1 is mundane, 10 poignant; rated when it is not given.")
        ] = None,
        occurred_at: Time = None,
        source: Annotated[str | None, Field(description="Who or what said it.")] = None,
        session: Annotated[str | None, Field(description="The conversation it belongs to.")] = None,
        place: Annotated[str | None, Field(description="Where it happened.")] = None,
        keywords: Annotated[Sequence[str], Field(description="Names that it is about.")] = (),
    ) -> Remembered:
        """Store something that was observed, said or learned, to be recalled in later conversations.

        To replace something that is remembered already and is wrong or outdated use correct.
        """
        memory = await self.agent.observe(
            text,
            kind=kind,
            importance=importance,
            occurred_at=occurred_at,
            source=source,
            session=session,
            place=place,
            keywords=keywords or None,
        )
        return Remembered(memory=Told.of(memory))

    async def recall(
        self,
        query: Annotated[str, Field(description="What to look for, in words: a question or a statement.")],
        k: Annotated[int, Field(ge=1, le=100, description="How many memories at most.")] = 10,
        kinds: Annotated[Sequence[Kind] | None, Field(description="Only memories of these kinds.")] = None,
        since: Time = None,
        until: Time = None,
        source: Annotated[str | None, Field(description="Only what this one said.")] = None,
        as_of: Annotated[
            str | None, Field(description="A time with its zone: what was believed then, whatever changed since.")
        ] = None,
    ) -> Recalled:
        """Find what is remembered about something, best first; nothing that was corrected or is in doubt.

        Each memory says whether it was observed, inferred (a reflection) or only intended (a plan).
        """
        hits = await self.agent.retrieve(
            query, k=k, profile=RECALL, kinds=kinds, since=since, until=until, source=source, as_of=as_of
        )
        notes = [f"{len(hits)} of {hits.considered} memories" if hits.considered else _NOTHING_YET]
        if hits.withheld_stale:
            notes.append(f"{hits.withheld_stale} withheld: what they rest on has changed")
        if hits.not_embedded:
            notes.append(f"{hits.not_embedded} could not be compared with the query yet")
        return Recalled(memories=_told(hit.memory for hit in hits), note="; ".join(notes))

    async def reflect(
        self,
        force: Annotated[bool, Field(description="Even when too little happened since the last time.")] = False,
    ) -> Reflected:
        """Conclude insights from what was observed; each cites the memories it rests on."""
        report = await self.agent.reflect(force=force)
        return Reflected(
            outcome=report.outcome,
            insights=_told(report.reflections),
            reinforced=report.reinforced,
            refused=tuple(f"{refused.item} ({refused.gate}: {refused.reason})" for refused in report.refused),
        )

    async def correct(
        self,
        id: MemoryId,
        text: Annotated[
            str | None, Field(description="What holds instead; without it the memory is only no longer held.")
        ] = None,
        mode: Annotated[
            Mode, Field(description="correction: it was wrong from the beginning; update: it was true until now.")
        ] = "correction",
        reason: Annotated[str, Field(description="Why; kept with the change.")] = "",
    ) -> Corrected:
        """Replace a memory that is wrong or outdated; all that rests on it is withheld until it is brought up to date.

        The old text is kept with its history; to remove a text for good use forget.
        """
        full = await self.agent.resolve(id)
        if text is None:
            report = await self.agent.retract(full, reason=reason)
        else:
            report = await self.agent.supersede(full, text=text, mode=mode, reason=reason)
        rested = len(report.stale_ids)
        return Corrected(
            was=Told.of(report.memory),
            now=Told.of(report.replacement) if report.replacement is not None else None,
            stale=_told(report.stale[:_MOST_TOLD]),
            note=f"{rested} that rested on it are withheld until they are recomputed"
            if rested
            else "nothing rested on it",
        )

    async def why(self, id: MemoryId) -> Why:
        """Show what a memory rests on, down to what was observed, and everything that happened to it."""
        from graphmem.views.history import history
        from graphmem.views.tree import tree

        full = await self.agent.resolve(id)
        provenance = await self.agent.explain(full)
        events = await self.agent.history(full)
        memory = provenance.memories[full]
        return Why(
            memory=Told.of(memory),
            grounds=str(tree(provenance)),
            history=tuple(line.plain for line in history(events)),
        )

    async def ask(
        self,
        question: Annotated[str, Field(description="One question, in words.")],
        as_of: Annotated[
            str | None, Field(description="A time with its zone: from what was believed then, whatever changed since.")
        ] = None,
    ) -> Answered:
        """Answer a question from memory and what the agent is told to be; each sentence names what bears it out."""
        try:
            answer = await self.agent.ask(question, as_of=as_of)
        except UnknownAgent:  # a model cannot have misspelled it: nothing was remembered yet
            return Answered(text="I do not know.", known=False, sentences=(), note=_NOTHING_YET)
        note = f"{len(answer.looked_at)} memories were looked at"
        if answer.withheld_stale:
            note += f"; {answer.withheld_stale} withheld: what they rest on has changed"
        said = (
            Said(text=it.text, citations=it.citations, inferred=it.inferred, described=it.described)
            for it in answer.sentences
        )
        return Answered(text=answer.text, known=answer.known, sentences=tuple(said), note=note)

    async def plan(
        self,
        date: Annotated[str | None, Field(description="YYYY-MM-DD in the agent's time zone; today without it.")] = None,
    ) -> Planned:
        """Plan a day, or show the plan that it has, with what is planned for this moment."""
        report = await self.agent.plan_day(date)
        current = await self.agent.current_plan() if date is None else None
        note = f"{len(report.new)} new plans" if report.new else "planned before"
        if current is not None and current.stale:
            note += "; what is planned for now rests on something that has changed"
        return Planned(
            day=report.day.isoformat(),
            time_zone=report.time_zone,
            plans=_told(report.plans),
            now=Told.of(current.plan) if current is not None else None,
            note=note,
        )

    async def forget(
        self,
        id: MemoryId,
        terms: Annotated[Sequence[str], Field(description="Names or numbers to remove wherever they stand.")] = (),
        dependents: Annotated[
            Dependents,
            Field(description="What becomes of what rests on it: recompute without it, retract, or refuse to forget."),
        ] = "recompute",
        dry_run: Annotated[bool, Field(description="Only say what would be removed.")] = False,
    ) -> Forgot:
        """Remove a memory's text for good from all that is stored; this cannot be undone. Ask the person first.

        For what is wrong or outdated use correct, which keeps the history.
        """
        full = await self.agent.resolve(id)
        report = await self.agent.forget(full, dependents=dependents, terms=terms, dry_run=dry_run)
        note = "nothing was removed: this was a dry run" if dry_run else "removed for good"
        if report.copies:
            note += f"; {len(report.copies)} memories of other agents hold it too and were not touched"
        return Forgot(
            dry_run=dry_run,
            forgotten=tuple(memory.id for memory in report.forgotten),
            stale=report.stale,
            retracted=report.retracted,
            may_still_say_it=_told(report.dependents[:_MOST_TOLD]),
            note=note,
        )


def _told(memories: Iterable[AnyMemory]) -> tuple[Told, ...]:
    return tuple(Told.of(memory) for memory in memories)
