"""The living half of an agent's handle: planning, reacting, talking, answering, being somewhere. One line a verb."""

from __future__ import annotations

from graphmem.async_reading import AsyncReading
from graphmem.tracing import traced


@traced
class AsyncLiving(AsyncReading):
    """What an agent does with its memory: see :class:`graphmem.async_agent.AsyncAgent`."""
