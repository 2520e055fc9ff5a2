"""Prompts that fit: which memories a prompt shows when not all of them have room, and how much of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.cognition import grounding
from graphmem.cognition.engine import Engine, window_of
from graphmem.cognition.runs import Run
from graphmem.errors import PromptTooLong
from graphmem.graph.store import Row
from graphmem.language.base import EXTRACTIVE, Reply, Statement, Task
from graphmem.language.prompts import size_of
from graphmem.language.text import shorten
from graphmem.models import AnyMemory

_SHARE = 4
"""One memory takes at most this part of a prompt; of a longer one the beginning is shown."""
_TRIES = 5
"""How often a prompt that the model finds too long is halved."""
_FEWEST = 50
"""Tokens below which showing a memory makes no sense."""


@dataclass(frozen=True)
class Shown:
    """A memory with its score, where it was retrieved for a prompt."""

    memory: AnyMemory
    score: float | None = None


async def ask(
    engine: Engine,
    run: Run,
    candidates: Sequence[Shown],
    task_of: Callable[[tuple[Statement, ...]], Task[Any]],
    *,
    priority: Callable[[Shown], Any] | None = None,
) -> tuple[Reply[Any], tuple[AnyMemory, ...]]:
    """Ask about memories, as many of them as the prompt has room for.

    A prompt that the model still finds too long is halved, a bounded number of times.

    Args:
        engine: The open store with its models.
        run: The open run.
        candidates: What to show, in the order in which it is shown.
        task_of: Makes the task of the statements chosen, which are numbered from 1.
        priority: Sorts what is chosen first; None: the order of the candidates.

    Returns:
        The reply, and the memories that the prompt showed, in the order of their numbers.

    Raises:
        PromptTooLong: When not even one of them, shortened, has room.
        LanguageModelError: As of :meth:`Run.ask`.
    """
    if engine.language_model.name == EXTRACTIVE:  # It reads memories, not prompts.
        reply = await run.ask(engine, task_of(_numbered(candidates)), _rows(candidates))
        return reply, tuple(entry.memory for entry in candidates)
    window = await window_of(engine)
    ranked = sorted(candidates, key=priority) if priority else list(candidates)
    room = window.prompt - sum(window.count(message.content) for message in engine.own(task_of(())).messages())
    failed: PromptTooLong | None = None
    for _ in range(_TRIES):
        chosen = _fitting(ranked, max(room, _FEWEST), window.count)
        shown = [entry for entry in candidates if id(entry) in chosen]
        statements = _numbered([chosen[id(entry)] for entry in shown])
        try:
            reply = await run.ask(engine, task_of(statements), _rows(shown))
        except PromptTooLong as error:
            failed = error
            room = min(room, sum(size_of(statement, window.count) for statement in statements)) // 2
            if room < _FEWEST:
                break
        else:
            return reply, tuple(entry.memory for entry in shown)
    assert failed is not None
    raise failed


def _rows(shown: Sequence[Shown]) -> list[Row]:
    return [{"id": entry.memory.id, "rank": rank, "score": entry.score} for rank, entry in enumerate(shown, start=1)]


def _numbered(shown: Sequence[Shown | Statement]) -> tuple[Statement, ...]:
    return tuple(
        entry.model_copy(update={"number": number})
        if isinstance(entry, Statement)
        else grounding.statement(entry.memory, number)
        for number, entry in enumerate(shown, start=1)
    )


def _fitting(ranked: Sequence[Shown], room: int, count: Callable[[str], int]) -> dict[int, Statement]:
    """What is shown of the candidates that have room, the first ones first; by the identity of the candidate."""
    chosen: dict[int, Statement] = {}
    left = room
    for entry in ranked:
        statement = cut(grounding.statement(entry.memory, len(ranked)), room // _SHARE, count)
        size = size_of(statement, count)
        if size <= left:
            chosen[id(entry)] = statement
            left -= size
    return chosen


def cut(statement: Statement, most: int, count: Callable[[str], int]) -> Statement:
    """A memory as a prompt shows it in so many tokens: its beginning where it is longer."""
    size = size_of(statement, count)
    length = len(statement.text)
    while size > most and length > 1:
        # Tokens are of different lengths: the first cut may not be enough.
        length = max(1, min(length * most // size, length * 9 // 10))
        statement = statement.model_copy(update={"text": shorten(statement.text, length), "shortened": True})
        size = size_of(statement, count)
    return statement
