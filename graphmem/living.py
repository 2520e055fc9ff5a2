"""The living half of the synchronous handle: each verb is that of :class:`AsyncLiving`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.async_living import AsyncLiving
from graphmem.threads import documented_by

if TYPE_CHECKING:
    from graphmem.async_agent import AsyncAgent
    from graphmem.threads import Portal


@documented_by(AsyncLiving)
class Living:
    """What an agent does with its memory, synchronously: see :class:`graphmem.agent.Agent`."""

    def __init__(self, agent: AsyncAgent, portal: Portal) -> None:
        self._agent = agent
        self._portal = portal

    @property
    def id(self) -> str:
        """The agent's id."""
        return self._agent.id
