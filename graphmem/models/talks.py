"""Conversations: what was said, to whom, and what it tells on."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from graphmem.models.memories import Reflection
from graphmem.models.runs import Refused
from graphmem.models.values import Value


class Utterance(Value):
    """One thing said; both agents remember it under the same id, the listener's HEARD_FROM the speaker's."""

    id: str
    speaker: str
    """Id of the agent who said it."""
    listener: str
    """Id of the agent who heard it."""
    text: str
    at: datetime
    citations: tuple[str, ...] = ()
    """Ids of the speaker's memories that it tells."""


class Conversation(Value):
    """What two agents said to each other, and what each made of it."""

    id: str
    a: str
    """Id of the agent who began."""
    b: str
    about: str | None = None
    utterances: tuple[Utterance, ...] = ()
    ended: Literal["turns", "over"]
    """At the bound on turns, or because neither had anything more to say."""
    summaries: dict[str, Reflection] = Field(default_factory=dict[str, Reflection])
    """By agent, its summary: a reflection that cites the utterances. None of an agent whose model wrote none that
    passed the gates."""
    refused: tuple[Refused, ...] = ()
    """What a gate kept from being said or noted."""
    resumed: int = 0
    """How many of the utterances had been stored before this call."""
