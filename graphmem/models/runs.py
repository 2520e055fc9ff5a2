"""Runs of a language model: what they were shown, what they wrote, what was refused."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from graphmem.models.memories import AnyMemory
from graphmem.models.values import Value


class Refused(Value):
    """Something a language model wrote that did not become memory."""

    gate: Literal["parse", "shape", "index", "support", "write"]
    reason: str
    item: str
    """What it wrote, shortened."""


class RunInfo(Value):
    """One run: what was asked, of which model, and how it ended."""

    id: str
    verb: str
    outcome: str
    model: str
    prompt_version: str
    started_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    """What it failed with."""
    refused: tuple[Refused, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars, by the language model's price list; None where the model's price is not known."""


class Spent(Value):
    """What the runs of one verb and model have cost."""

    verb: str
    model: str
    runs: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    """US dollars, as far as prices were known; None where none was."""


class Usage(Value):
    """What an agent's runs have cost: all together, and by verb and model."""

    runs: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars, as far as prices were known; None where none was."""
    by: tuple[Spent, ...] = ()
    tokens_lately: int = 0
    """Tokens of the runs that began in the last 24 hours."""
    tokens_per_day: int | None = None
    """What ``GRAPHMEM_MODEL_TOKENS_PER_DAY`` allows; None: no limit."""


class Shown(Value):
    """A memory that a run's prompts showed."""

    memory: AnyMemory
    rank: int
    """Its number in the prompt that first showed it, from 1."""
    score: float | None = None
    """Its score where it was retrieved for the prompt."""


class RunDetails(Value):
    """One run with the memories that its prompts showed and those that it wrote."""

    run: RunInfo
    shown: tuple[Shown, ...] = ()
    wrote: tuple[AnyMemory, ...] = ()


class RunRef(Value):
    """A run of a language model, by name."""

    id: str
    verb: str
    at: datetime
