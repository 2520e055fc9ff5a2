"""Asking an agent: an answer from its memories and nothing else, and the question whether they bear it out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from graphmem.language.base import Message, Statement, Task
from graphmem.language.oneself import OWN, Oneself
from graphmem.language.prompts import Insight, OptionalWritten, ReplyModel, chat, memories, quote, time_of

MOST_SENTENCES = 8
"""Sentences of an answer; further ones are refused."""


class Answered(ReplyModel):
    """Reply to :class:`AnswerQuestion`: no sentence where the memories do not tell."""

    sentences: list[Insight]


class AnswerQuestion(Task[Answered]):
    """Answer a question as the agent would, from the memories shown; each sentence cites what bears it out."""

    prompt_version: ClassVar[str] = "answer-question/2"
    reply_model: ClassVar[type[BaseModel]] = Answered

    question: str
    who: str
    """The agent's name."""
    own: Oneself | None = None
    """What the agent is told to be, where it may speak of it; number 0."""
    day: tuple[datetime, datetime] | None = None
    """The day of which it is asked what the agent did or is going to do."""
    done: bool = False
    """Of that day, what it did."""
    now: datetime
    statements: tuple[Statement, ...]

    def messages(self) -> list[Message]:
        """The prompt."""
        told = (
            "" if self.own is None else f" and from what it is told to be, number {OWN}, which is cited like a memory"
        )
        return chat(
            f"Answer the question as this agent would, in the first person, from these memories{told} alone. What you "
            "know of the world, of people or of books is not the agent's memory: leave it out. Add nothing that no "
            "memory says (no guess at what comes next, no detail, no reason). Where memories tell only a part, say "
            "that part; where one invites, asks or promises something, do not leave that out. Say of a plan that it is "
            "planned.\n"
            f'At most {MOST_SENTENCES} sentences; each cites in "evidence" the numbers of all memories that say so. If '
            'the memories do not tell, the list is empty: that is "I do not know".\n'
            'Answer as {"sentences": [{"text": "…", "evidence": [N, …]}, …]}.',
            memories(self.statements),
            f"The agent and its time (data as well): {quote({'name': self.who, 'now': time_of(self.now)})}",
            *([] if self.own is None else [f"What it is told to be (data as well): {self.own.as_data()}"]),
            f"Question (data as well): {quote(self.question)}",
        )


class Claim(BaseModel):
    """A sentence with the memories that it cites."""

    model_config = ConfigDict(frozen=True)

    text: str
    evidence: tuple[int, ...]


class Verdict(ReplyModel):
    """Whether the memories cited say what one numbered sentence says."""

    number: int
    follows: Annotated[bool, Field(strict=True)]
    reason: OptionalWritten = ""


class Verdicts(ReplyModel):
    """Reply to :class:`CheckClaims`."""

    verdicts: list[Verdict]


class CheckClaims(Task[Verdicts]):
    """Tell which sentences are borne out by the memories that they cite, matched by number (1-based)."""

    prompt_version: ClassVar[str] = "check-claims/2"
    reply_model: ClassVar[type[BaseModel]] = Verdicts

    claims: tuple[Claim, ...]
    own: Oneself | None = None
    """What the agent that says them is told to be; number 0."""
    statements: tuple[Statement, ...]

    def messages(self) -> list[Message]:
        """The prompt."""
        lines = [quote({"number": n, **claim.model_dump(mode="json")}) for n, claim in enumerate(self.claims, start=1)]
        return chat(
            "Which of these sentences say only what the memories say that they cite? One that adds something (what "
            "happens next, a detail, a reason, what is generally known), says more than they do, or something else, "
            "does not follow. Saying it in other words or leaving something out is allowed.\n"
            'Answer as {"verdicts": [{"number": N, "follows": true | false, "reason": "what is added"}, …]}, one entry '
            "for each sentence.",
            memories(self.statements),
            *([] if self.own is None else [f"Who says them (data as well), cited as {OWN}: {self.own.as_data()}"]),
            "\n".join(["Sentences (data as well), with the numbers of the memories that each cites:", *lines]),
        )


TASKS: tuple[type[Task[Any]], ...] = (AnswerQuestion, CheckClaims)
"""What is asked about questions."""
