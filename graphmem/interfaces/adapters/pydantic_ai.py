"""An agent's memory as tools of pydantic-ai: ``Agent(model, tools=memory_tools(memory.agent("evan")))``."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pydantic_ai import ModelRetry, Tool

from graphmem.errors import GraphmemError
from graphmem.interfaces.tools import Tools, told_error

if TYPE_CHECKING:
    from graphmem import AsyncAgent

P = ParamSpec("P")
T = TypeVar("T")


def memory_tools(agent: AsyncAgent, *names: str) -> list[Tool[Any]]:
    """The verbs of this agent's memory as tools; of all of them those that are named.

    The model is told errors with what to do about them, and may try again. ``forget``, which cannot be undone, needs an
    approval.

    Raises:
        ValueError: When there is no tool of a name.
    """
    tools = Tools(agent)
    return [
        Tool(_retried(function), name=name, requires_approval=name == "forget")
        for name, function in tools.functions(names).items()
    ]


def _retried(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    @functools.wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except GraphmemError as error:
            raise ModelRetry(told_error(error)) from error

    return call
