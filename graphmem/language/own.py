"""Prompts of one's own in the place of graphmem's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.language import asking, dialogue, places, planning, prompts
from graphmem.language.base import Task

TASKS: tuple[type[Task[Any]], ...] = (
    *prompts.TASKS,
    *planning.TASKS,
    *asking.TASKS,
    *dialogue.TASKS,
    *places.TASKS,
)
"""Everything that is asked of a language model; each can be replaced by a subclass with a prompt of its own."""

Prompts = Mapping[type[Task[Any]], type[Task[Any]]]
"""By task, what is asked in its place."""


def own_prompts(tasks: Iterable[type[Task[Any]]]) -> Prompts:
    """Prompts of one's own: subclasses of the tasks above, each with a ``prompt_version`` and ``messages`` of its own.

    Raises:
        InvalidInput: When one of them is no such subclass, has the version of the original, or replaces one twice.
    """
    found: dict[type[Task[Any]], type[Task[Any]]] = {}
    for own in tasks:
        original = next((task for task in TASKS if isinstance(own, type) and issubclass(own, task)), None)  # pyright: ignore[reportUnnecessaryIsInstance]
        if original is None or own is original:
            known = ", ".join(task.__name__ for task in TASKS)
            raise InvalidInput(f"prompts: {own!r} is no subclass of any of {known}")
        if own.prompt_version == original.prompt_version:
            raise InvalidInput(
                f"prompts: {own.__name__} has the prompt_version of {original.__name__}",
                remedy="give it one of its own, which the runs record",
            )
        if original in found:
            raise InvalidInput(f"prompts: {original.__name__} is replaced twice")
        found[original] = own
    return found
