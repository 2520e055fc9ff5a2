"""Every error that graphmem raises on purpose, in one tree.

GraphmemError
├── InvalidInput            a value that the caller gave is refused; nothing was written
│   ├── InvalidText         empty, blank, too long, or not storable as UTF-8
│   ├── InvalidTime         a naive or unreadable datetime
│   ├── InvalidFile         a file is missing, or cannot be read or written
│   └── InvalidSettings     a setting or environment variable
├── UnknownAgent            no agent of that id
├── UnknownMemory           this agent has no memory of that id
│   └── AmbiguousId         a shortened id fits several memories
├── UnknownRun              this agent has no run of that id
├── IdConflict              the id is taken by a memory with other content
├── AgentNotEmpty           the agent remembers something already, so nothing is imported into it
├── ChangedMeanwhile        an agent was written to while it was read as a whole
├── Forgotten               the id is that of a memory that was forgotten
├── BeliefError             a change of belief that would break a rule
│   ├── AlreadyEnded        the memory was superseded, retracted or forgotten before
│   ├── NotActive           the memory must be active for this
│   ├── NotEnded            the memory is held, so there is nothing to restore
│   ├── NotArchived         the memory was not put away, so there is nothing to take out
│   ├── NotNewest           a later change of the same chain must be undone first
│   ├── SelfSupersession    a memory cannot supersede itself
│   ├── HasDependents       something rests on what is to be forgotten
│   ├── NamesTerm           a term to be forgotten is part of an id or key
│   ├── KeyMismatch         what is to replace a keyed fact does not have its key
│   └── RestsOnItself       the new memory rests on the one it would replace
├── EmbeddingError          the embedder failed, or gave a vector that cannot be used
│   ├── EmbedderUnavailable              its provider gives no answer: rate limit, time-out, failure
│   └── EmbedderAuthenticationFailed     its provider refuses the key
├── LanguageModelError      the language model failed, or its reply was refused
│   ├── ReplyRefused        a reply that did not pass a gate, after all attempts
│   ├── RunLost             the run took too long and was taken for dead
│   ├── ModelUnavailable    its provider gives no answer: rate limit, time-out, failure
│   ├── ModelAuthenticationFailed        its provider refuses the key
│   └── ModelRequestRefused its provider refuses the request: no such model, no quota, …
│       └── PromptTooLong   the prompt does not fit in the model's context window
├── StoreError              the database refused or failed
│   ├── StoreUnavailable    no connection
│   │   └── OutcomeUnknown   it broke while a change was committed
│   ├── AuthenticationFailed
│   ├── NotPermitted        the account may not do this, or the database is read-only
│   ├── UnsupportedServer   not a Neo4j, too old, or without a feature that is needed
│   ├── SchemaMismatch      another dimension, embedding model or schema version
│   ├── EmbeddingModelChanged            the store was, or is being, moved to another embedding model
│   ├── IndexUnavailable    an index is missing, failed, or not online in time
│   └── StoreInconsistent   the graph is not what a rule guarantees; the change was rolled back
└── LocalServerError        the embedded Neo4j could not be fetched, started or stopped
    └── MissingExtra        an optional dependency is not installed

Each carries ``remedy``: one line that says what to do, shown by the command line after the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.models import Refused


_MOST_SHOWN = 1_500
"""Characters of a message or remedy, which may quote what was given, at any length and with anything in it."""


def _shown(text: str) -> str:
    """Text that can be shown and stored: NUL and lone surrogates as escapes, the middle of a long one left out."""
    plain = text.replace("\0", "\\x00").encode(errors="backslashreplace").decode()
    half = _MOST_SHOWN // 2
    return plain if len(plain) <= _MOST_SHOWN else f"{plain[:half]} … {plain[-half:]}"


class GraphmemError(Exception):
    """Something in graphmem failed."""

    retryable: bool = False
    """Whether the same call may succeed later without a change by the caller."""

    def __init__(self, message: str | None = None, *, remedy: str = "") -> None:
        super().__init__(_shown(message) if message else (type(self).__doc__ or "").strip())
        self.remedy = _shown(remedy)


class InvalidInput(GraphmemError):
    """A value that the caller gave is refused; nothing was written."""


class InvalidText(InvalidInput):
    """The text is empty, blank, too long, or cannot be stored as UTF-8."""


class InvalidTime(InvalidInput):
    """The time is naive or cannot be read."""


class InvalidFile(InvalidInput):
    """A file is missing, or cannot be read or written."""


class InvalidSettings(InvalidInput):
    """A setting or environment variable is refused."""

    def __init__(self, message: str, *, setting: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.setting = setting
        """Its name, where one value is at fault: an option of the command line or argument may have given it."""


class UnknownAgent(GraphmemError):
    """There is no agent of that id."""


class UnknownMemory(GraphmemError):
    """This agent has no memory of that id."""


class AmbiguousId(UnknownMemory):
    """A shortened id fits several memories."""


class UnknownRun(GraphmemError):
    """This agent has no run of that id."""


class Forgotten(GraphmemError):
    """The id is that of a memory that was forgotten; it is not stored again."""

    def __init__(self, message: str, *, ids: tuple[str, ...], positions: tuple[int, ...], remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.ids = ids
        """Every forgotten id of the refused batch, each once."""
        self.positions = positions
        """Where the refused items stand in what the call was given, from 0; the others can be given again."""


class IdConflict(GraphmemError):
    """The id is taken by a memory with other content."""

    def __init__(self, message: str, *, ids: tuple[str, ...], positions: tuple[int, ...], remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.ids = ids
        """Every id of the refused batch that is taken, each once."""
        self.positions = positions
        """Where the refused items stand in what the call was given, from 0; the others can be given again."""


class AgentNotEmpty(GraphmemError):
    """The agent remembers something already, so nothing is imported into it."""


class ChangedMeanwhile(GraphmemError):
    """The agent was written to while it was read as a whole."""

    retryable = True


class BeliefError(GraphmemError):
    """The change of belief would break a rule."""


class AlreadyEnded(BeliefError):
    """The memory was superseded, retracted or forgotten before."""


class NotActive(BeliefError):
    """The memory must be active for this."""


class NotEnded(BeliefError):
    """The memory is held, so there is nothing to restore."""


class NotArchived(BeliefError):
    """The memory was not put away, so there is nothing to take out."""


class NotNewest(BeliefError):
    """A later change of the same chain must be undone first."""


class SelfSupersession(BeliefError):
    """A memory cannot supersede itself."""


class HasDependents(BeliefError):
    """Something rests on what is to be forgotten."""


class NamesTerm(BeliefError):
    """A term to be forgotten is part of an id or key."""


class KeyMismatch(BeliefError):
    """What is to replace a keyed fact does not have its key."""


class RestsOnItself(BeliefError):
    """The new memory rests on the one it would replace."""


class EmbeddingError(GraphmemError):
    """The embedder failed, or gave a vector that cannot be used."""


class EmbedderUnavailable(EmbeddingError):
    """The provider of the embedding model gives no answer: rate limit, time-out, failure."""

    retryable = True


class EmbedderAuthenticationFailed(EmbeddingError):
    """The provider of the embedding model refuses the key."""


class LanguageModelError(GraphmemError):
    """The language model failed, or its reply was refused."""

    refused: tuple[Refused, ...] = ()
    """Replies of earlier attempts that were refused; the error itself is about the last attempt."""
    prompt_tokens: int = 0
    """Spent on all attempts, although nothing came of them."""
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None where the model's price is not known."""


class ReplyRefused(LanguageModelError):
    """A reply did not pass a gate, after all attempts."""

    def __init__(self, message: str, *, gate: str, remedy: str = "", truncated: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.gate = gate
        self.truncated = truncated
        """Whether the reply was cut at the most tokens that it may have: less can be asked at a time."""


class ModelUnavailable(LanguageModelError):
    """The provider of the language model gives no answer: rate limit, time-out, failure."""

    retryable = True


class RunLost(LanguageModelError):
    """The run took too long and was taken for dead."""


class ModelAuthenticationFailed(LanguageModelError):
    """The provider of the language model refuses the key."""


class ModelRequestRefused(LanguageModelError):
    """The provider of the language model refuses the request."""


class BudgetExceeded(LanguageModelError):
    """The next request could take more tokens than the agent may still spend; it was not sent."""


class PromptTooLong(ModelRequestRefused):
    """The prompt does not fit in the model's context window."""


class StoreError(GraphmemError):
    """The database refused or failed."""


class StoreUnavailable(StoreError):
    """There is no connection to the database."""

    retryable = True


class OutcomeUnknown(StoreUnavailable):
    """The connection broke while a change was committed, and the server cannot be asked whether it was made."""

    retryable = False


class AuthenticationFailed(StoreError):
    """The database refused the user name or password."""


class NotPermitted(StoreError):
    """The account may not do this, or the database is read-only."""


class UnsupportedServer(StoreError):
    """The server is not a Neo4j, is too old, or lacks a feature that is needed."""


class SchemaMismatch(StoreError):
    """The store was made with another dimension, embedding model or schema version."""


class EmbeddingModelChanged(StoreError):
    """The store was moved to another embedding model since it was opened, or is being moved."""


class IndexUnavailable(StoreError):
    """An index is missing, failed, or not online in time."""


class StoreInconsistent(StoreError):
    """The graph is not what a rule guarantees; the change was rolled back."""


class LocalServerError(GraphmemError):
    """The embedded Neo4j could not be fetched, started or stopped."""


class MissingExtra(LocalServerError):
    """An optional dependency is not installed."""
