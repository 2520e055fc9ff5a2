"""An agent's memory as tools of the OpenAI Agents SDK: ``Agent(name, tools=memory_tools(memory.agent("evan")))``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import FunctionTool, RunContextWrapper, function_tool

from graphmem.errors import GraphmemError
from graphmem.interfaces.tools import Tools, told_error

if TYPE_CHECKING:
    from graphmem import AsyncAgent


def memory_tools(agent: AsyncAgent, *names: str) -> list[FunctionTool]:
    """The verbs of this agent's memory as tools; of all of them those that are named.

    The model is told errors with what to do about them. ``forget``, which cannot be undone, needs an approval.

    Raises:
        ValueError: When there is no tool of a name.
    """
    return [
        function_tool(
            function,
            name_override=name,
            failure_error_function=_failed,
            strict_mode=False,  # its strict schemas know no optional arguments
            needs_approval=name == "forget",
        )
        for name, function in Tools(agent).functions(names).items()
    ]


def _failed(_context: RunContextWrapper[Any], error: Exception) -> str:
    """What the model is told; a fault of the program is none that it could mend, and ends the run."""
    if isinstance(error, GraphmemError):
        return f"error: {told_error(error)}"
    raise error
