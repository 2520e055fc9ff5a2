"""The language-model boundary: one protocol that answers a task with a validated reply.

A :class:`Task` holds what a prompt shows, as data, and the pydantic model of its reply. Adapters for real models
render ``messages()``; ``extractive`` works from the data itself. What comes back is data from outside and passes
the gates of :mod:`graphmem.language.gates` before anything of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from graphmem.errors import BudgetExceeded
from graphmem.models import Kind, Refused, Status


class Statement(BaseModel):
    """A memory as a prompt shows it, under a number of its own."""

    model_config = ConfigDict(frozen=True)

    number: int
    """1-based; what a reply cites it by."""
    text: str
    kind: Kind
    type: str
    """observation | reflection | plan."""
    status: Status = "active"
    occurred_at: datetime
    source: str | None = None
    true_until: datetime | None = None
    """When it stopped to be true; None: it holds. It may be cited for what was, not for what is."""
    importance: int = 5
    shortened: bool = False
    """The text is only the beginning of the memory's: the whole was too long for the prompt."""
    keywords: tuple[str, ...] = ()
    place: str | None = None
    """Where it was observed, or is planned to be."""
    state: str | None = None
    """Of a plan: planned | active | done | missed | dropped, and"""
    reason: str | None = None
    """why it ended so."""
    start: datetime | None = None
    """Of a plan: from when, and"""
    end: datetime | None = None
    """to when."""


EXTRACTIVE = "extractive"
"""The name of the engine that works without a model; what it rates is rated by rule."""

R = TypeVar("R", bound=BaseModel)
R_co = TypeVar("R_co", bound=BaseModel, covariant=True)


class Message(BaseModel):
    """One chat message."""

    role: str
    content: str


class Task(BaseModel, Generic[R]):
    """Something asked of a language model; subclasses live in :mod:`graphmem.language.prompts`."""

    model_config = ConfigDict(frozen=True)

    prompt_version: ClassVar[str]
    reply_model: ClassVar[type[BaseModel]]

    allowance: int | None = None
    """Tokens, of prompts and replies, that all requests for it together may take; None: no limit."""

    def messages(self) -> list[Message]:
        """The prompt; memory text in it is delimited as data."""
        raise NotImplementedError


class Reply(BaseModel, Generic[R_co]):
    """A validated reply, with what it cost."""

    model_config = ConfigDict(frozen=True)

    value: R_co
    raw: str
    """What the model wrote, before parsing."""
    refused: tuple[Refused, ...] = ()
    """Whole replies of earlier attempts, and items of this one, that the parse and shape gates refused."""
    prompt_tokens: int = Field(default=0, ge=0, le=10**12)
    """Over all attempts, as the provider counts."""
    completion_tokens: int = Field(default=0, ge=0, le=10**12)
    cost: float | None = None
    """US dollars over all attempts, by the adapter's price list; None where the model's price is not known."""


@dataclass(frozen=True)
class Window:
    """How much a language model reads and writes at a time, in tokens."""

    prompt: int
    """Most tokens of a prompt."""
    reply: int
    """Most tokens of a reply, at first."""
    count: Callable[[str], int]
    """How many tokens a text has."""


def estimate_tokens(text: str) -> int:
    """Tokens of a text where the tokenizer is not known, rather too many: a third of its bytes in UTF-8."""
    return (len(text) if text.isascii() else len(text.encode(errors="replace"))) // 3 + 1


def over_budget(prompt: int, reply: int, left: int) -> BudgetExceeded:
    """The error for a request that could take more tokens than are left."""
    return BudgetExceeded(
        f"the next request could take {prompt:,} tokens of prompt and {reply:,} of reply; {max(left, 0):,} are left",
        remedy="go on later, when the tokens of the last 24 hours are fewer, or raise GRAPHMEM_MODEL_TOKENS_PER_DAY",
    )


@runtime_checkable
class Windowed(Protocol):
    """A language model that tells its window; others are given prompts of a moderate size."""

    async def window(self) -> Window:
        """How much it reads and writes at a time."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """Answers tasks. It may be :class:`Windowed` as well."""

    @property
    def name(self) -> str:
        """Stored with all it writes, e.g. ``extractive``."""
        ...

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        """Answer a task with a value of its ``reply_model``.

        Raises:
            ReplyRefused: When no reply passed the parse and shape gates.
            LanguageModelError: When the model failed; what was spent stands on the error.
        """
        ...
