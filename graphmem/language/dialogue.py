"""Talking: what to say next to somebody, and what a conversation was about."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from graphmem.language.base import Message, Statement, Task
from graphmem.language.prompts import Evidence, Insight, ReplyModel, chat, memories, quote, time_of

MOST_REMARKS = 4
"""Sentences of an utterance; further ones are refused."""


class Remark(Insight):
    """One sentence of an utterance and the memories that it tells; a greeting or a question tells none."""

    evidence: Evidence = Field(default_factory=list[int])


class Remarks(ReplyModel):
    """Reply to :class:`Speak`: no sentence where there is nothing more to say."""

    sentences: list[Remark]


class Line(BaseModel):
    """Something said in the conversation so far."""

    model_config = ConfigDict(frozen=True)

    speaker: str
    text: str


class Speak(Task[Remarks]):
    """Say the next thing to somebody, or nothing more."""

    prompt_version: ClassVar[str] = "speak/1"
    reply_model: ClassVar[type[BaseModel]] = Remarks

    who: str
    """The speaker's name."""
    other: str
    """The listener's name."""
    about: str | None = None
    now: datetime
    time_zone: str = "UTC"
    """Of the speaker's clock."""
    statements: tuple[Statement, ...]
    """What the speaker remembers of the other and of the matter."""
    told: tuple[int, ...] = ()
    """Numbers of the statements that the other knows from the speaker, or the speaker from the other."""
    lines: tuple[Line, ...] = ()
    """The conversation so far."""

    def messages(self) -> list[Message]:
        """The prompt."""
        spoken = [quote(line.model_dump()) for line in self.lines]
        scene = {"you": self.who, "listener": self.other, "about": self.about, "now": time_of(self.now)}
        return chat(
            f"You are this agent. What do you say next to the listener, in at most {MOST_REMARKS} short sentences, in "
            "the first person? Pass on what matters to the listener or to the matter, invitations with their place and "
            "time above all, and say from whom you have it. What you say as a fact has to stand in the memories, and "
            'cites in "evidence" the numbers of those that say so; a greeting, a question or a thank-you cites none. '
            "Do not tell again what the other knows from you or you from the other: "
            f"{list(self.told)}. If there is nothing more to say, the list is empty.\n"
            'Answer as {"sentences": [{"text": "…", "evidence": [N, …]}, …]}.',
            memories(self.statements),
            f"The scene (data as well): {quote(scene)}",
            "\n".join(["Said so far (data as well), a line each:", *spoken]),
        )


class Summaries(ReplyModel):
    """Reply to :class:`SummariseTalk`."""

    summaries: list[Insight]


class SummariseTalk(Task[Summaries]):
    """Note what a conversation was about, from one side."""

    prompt_version: ClassVar[str] = "summarise-talk/1"
    reply_model: ClassVar[type[BaseModel]] = Summaries

    who: str
    other: str
    statements: tuple[Statement, ...]
    """The utterances, in order."""

    def messages(self) -> list[Message]:
        """The prompt."""
        scene = {"you": self.who, "other": self.other}
        return chat(
            "These are the things said in one conversation. Note in one or two sentences, in the first person, what "
            "you take from it: what you learned and from whom, what was asked, offered, agreed or refused. Nothing "
            'that was not said. "evidence" are the numbers of what it rests on.\n'
            'Answer as {"summaries": [{"text": "…", "evidence": [N, …]}]}, with one summary.',
            memories(self.statements),
            f"The scene (data as well): {quote(scene)}",
        )


TASKS: tuple[type[Task[Any]], ...] = (Speak, SummariseTalk)
"""What is asked in conversations."""
