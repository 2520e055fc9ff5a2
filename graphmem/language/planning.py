"""What is asked of a language model about a day: to plan it, to divide a plan, to react, to sum up, to learn from it.

As in :mod:`graphmem.language.prompts` memory text is data, and a reply names its reasons by the numbers of the memories
that were shown. Times of day are those of the agent's clock; what they come to is :mod:`graphmem.cognition.day`'s.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints

from graphmem.language import reading
from graphmem.language.base import Message, Statement, Task
from graphmem.language.prompts import (
    Evidence,
    Insight,
    Insights,
    OptionalWritten,
    ReplyModel,
    Written,
    chat,
    memories,
    quote,
)
from graphmem.models import MAX_ID, storable

__all__ = ["TASKS", "DecideReaction", "Decision", "DividePlan", "LearnLessons", "PlanDay", "SumUp"]


def _or_empty(value: object) -> object:
    return "" if value is None else value


def _stripped(value: str) -> str:
    return storable(value.strip())


PlaceName = Annotated[
    str, BeforeValidator(_or_empty), StringConstraints(strict=True, max_length=MAX_ID), AfterValidator(_stripped)
]
"""Where something is to be done; empty where nothing is said of it."""
Clock = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=40)]
"""A time of day as a model wrote it."""
MaybeWritten = Annotated[OptionalWritten, BeforeValidator(_or_empty)]


class PlannedBlock(ReplyModel):
    """One block of a day."""

    start: Clock
    end: Clock
    text: Written
    place: PlaceName = ""
    evidence: Evidence = Field(default_factory=list[int])


class PlannedDay(ReplyModel):
    """Reply to :class:`PlanDay`."""

    plan: list[PlannedBlock]


class Part(ReplyModel):
    """One part of a plan that is divided."""

    text: Written
    minutes: Annotated[int, BeforeValidator(reading.minutes)]
    place: PlaceName = ""


class Parts(ReplyModel):
    """Reply to :class:`DividePlan`."""

    parts: list[Part]


class Decision(ReplyModel):
    """Reply to :class:`DecideReaction`."""

    react: Annotated[bool, Field(strict=True)]
    reason: MaybeWritten = ""
    doing: MaybeWritten = ""
    """What the agent does instead from now on; empty: it goes on as planned."""
    replan: Annotated[bool, Field(strict=True)] = False
    """Whether the rest of its day changes."""
    converse_with: int | None = None
    """The number of the person with whom it begins to talk."""
    evidence: Evidence = Field(default_factory=list[int])


class Scheduled(BaseModel, frozen=True):
    """A block of the day as a prompt shows it, in the clock times of the agent."""

    start: str
    end: str
    text: str
    place: str | None = None
    state: str = "planned"
    stale: bool = False
    """What it was planned for does not hold any more."""

    def shown(self) -> str:
        """As one line of JSON."""
        given: dict[str, object] = {"from": self.start, "to": self.end, "text": self.text}
        if self.place:
            given["place"] = self.place
        given["state"] = self.state
        if self.stale:
            given["stale"] = True
        return quote(given)


def _block(tag: str, lines: tuple[Scheduled, ...]) -> list[str]:
    return ["\n".join([f"<{tag}>", *(line.shown() for line in lines), f"</{tag}>"])] if lines else []


class PlanDay(Task[PlannedDay]):
    """Plan a day, or the rest of it, in 5 to 8 blocks, each with its reasons."""

    prompt_version: ClassVar[str] = "plan-day/1"
    reply_model: ClassVar[type[BaseModel]] = PlannedDay

    agent: str
    """Its name, with its traits where it has any."""
    day: str
    """``Monday 12 June 2026``."""
    date: str
    """The same as ``2026-06-12``."""
    time_zone: str
    since: str
    """From when on, ``HH:MM``, and"""
    now: str
    """what the clock shows now."""
    past: tuple[Scheduled, ...] = ()
    """What of this day is behind it."""
    rest: tuple[Scheduled, ...] = ()
    """What had been planned for the time that is to be planned anew."""
    reaction: str | None = None
    """What the agent does from now on instead."""
    statements: tuple[Statement, ...]

    def messages(self) -> list[Message]:
        """The prompt."""
        anew = (
            f" It had planned the rest of the day as in <rest>; plan the time from {self.since} on anew. What is "
            "marked stale rests on what does not hold any more; keep of the others what still makes sense."
            if self.rest
            else ""
        )
        reacts = f" From {self.since} on it does this first: {quote(self.reaction)}" if self.reaction else ""
        return chat(
            f"Plan {self.day} (time zone {self.time_zone}; times of memories are in UTC) for the agent "
            f"{quote(self.agent)} from {self.since} until midnight, in 5 to 8 blocks that follow each other without "
            f"gap; fewer where little of the day is left. The last one is usually the night's sleep, which may end the "
            f"next morning.{anew}{reacts} Keep to appointments at their times, to what it usually does, and to "
            "lessons it has learned; no meal is eaten twice. Where memories are the reason for a block, name their "
            "numbers.\n"
            'Answer as {"plan": [{"start": "HH:MM", "end": "HH:MM", "text": "what it does", "place": "where, or null", '
            '"evidence": [N, …]}, …]}.',
            memories(self.statements),
            *_block("past", self.past),
            *_block("rest", self.rest),
        )


class DividePlan(Task[Parts]):
    """Divide a block of the day into hours, or an hour into steps of 5 to 15 minutes."""

    prompt_version: ClassVar[str] = "divide-plan/1"
    reply_model: ClassVar[type[BaseModel]] = Parts

    agent: str
    text: str
    start: str
    end: str
    minutes: int
    place: str | None = None
    into: Literal["hour", "step"]
    around: tuple[Scheduled, ...] = ()
    """What comes before and after."""
    statements: tuple[Statement, ...]
    """Reasons of the plan, and lessons learned."""

    def messages(self) -> list[Message]:
        """The prompt."""
        how = "parts of about an hour each" if self.into == "hour" else "steps of 5 to 15 minutes each"
        plan = {"from": self.start, "to": self.end, "text": self.text, "place": self.place}
        return chat(
            f"The agent {quote(self.agent)} has this plan: {quote(plan)}. Divide it into {how}, in order. Together "
            f"they last exactly {self.minutes} minutes.\n"
            'Answer as {"parts": [{"text": "what it does", "minutes": N, "place": "where, or null"}, …]}.',
            memories(self.statements),
            *_block("around", self.around),
        )


class DecideReaction(Task[Decision]):
    """Decide whether an agent reacts to what it observed, and how."""

    prompt_version: ClassVar[str] = "decide-reaction/1"
    reply_model: ClassVar[type[BaseModel]] = Decision

    agent: str
    now: str
    """What the clock shows, with the day."""
    time_zone: str
    doing: str | None = None
    """What it is doing by its plan."""
    rest: tuple[Scheduled, ...] = ()
    people: tuple[str, ...] = ()
    """With whom it may talk, numbered from 1 in this order."""
    statements: tuple[Statement, ...]
    """What it observed, number 1, and what it remembers of it and of whom it is about."""

    def messages(self) -> list[Message]:
        """The prompt."""
        lines = [quote({"person": number, "name": name}) for number, name in enumerate(self.people, start=1)]
        return chat(
            f"It is {self.now} ({self.time_zone}; times of memories are in UTC). The agent {quote(self.agent)} "
            f"{'is doing this: ' + quote(self.doing) if self.doing else 'has no plan for now'}. It has just observed "
            "memory 1; the others are what it remembers about it. Should it react? Most of what one observes needs no "
            'reaction. If it should, "doing" says what it does from now on instead of its plan (empty where that '
            'stays), "replan" whether what it does later today changes, and "converse_with" is the number of the '
            'person with whom it begins to talk, else null. "evidence" are the numbers of the memories that are the '
            "reason.\n"
            'Answer as {"react": true | false, "reason": "…", "doing": "…", "replan": true | false, '
            '"converse_with": N | null, '
            '"evidence": [N, …]}.',
            memories(self.statements),
            *(["\n".join(["<people>", *lines, "</people>"])] if lines else []),
            *_block("rest", self.rest),
        )


class SumUp(Task[Insight]):
    """Describe an agent in a few sentences, or sum up its day."""

    prompt_version: ClassVar[str] = "sum-up/1"
    reply_model: ClassVar[type[BaseModel]] = Insight

    agent: str
    """Its name, with its traits where it has any."""
    name: str
    traits: str | None = None
    day: str | None = None
    """The day that is summed up, ``Monday 12 June 2026``; None: the agent itself is described."""
    statements: tuple[Statement, ...]

    def messages(self) -> list[Message]:
        """The prompt."""
        wanted = (
            f"Sum up {self.day} of the agent {quote(self.agent)} in at most five sentences: what mattered, what it "
            "did, what became of its plans, and what is left for the next day."
            if self.day
            else f"Describe the agent {quote(self.agent)} in at most five sentences, from these memories alone: what "
            "it is like, what it does, and what it has been making progress with lately."
        )
        return chat(
            f'{wanted} Cite in "evidence" the numbers of all memories that it follows from.\n'
            'Answer as {"text": "…", "evidence": [N, N]}.',
            memories(self.statements),
        )


class LearnLessons(Task[Insights]):
    """Learn from what became of plans: how something is done, or planned, each with the plans that it follows from."""

    prompt_version: ClassVar[str] = "learn-lessons/1"
    reply_model: ClassVar[type[BaseModel]] = Insights

    agent: str
    statements: tuple[Statement, ...]
    """Plans that are done, missed or dropped, with the reason."""
    count: int = Field(default=5, ge=1)

    def messages(self) -> list[Message]:
        """The prompt."""
        return chat(
            f"These are plans of the agent {quote(self.agent)} with what became of them. Which lessons, at "
            f"most {self.count}, follow from them for the next time it plans the like? A lesson says in one or two "
            "sentences how to do something, or how to plan it; it says more than any single plan, and cites in "
            '"evidence" the numbers of all plans that it follows from. If none follows, the list is empty.\n'
            'Answer as {"insights": [{"text": "…", "evidence": [N, N]}, …]}.',
            memories(self.statements),
        )


TASKS: tuple[type[Task[Any]], ...] = (PlanDay, DividePlan, DecideReaction, SumUp, LearnLessons)
"""Everything that is asked about days."""
