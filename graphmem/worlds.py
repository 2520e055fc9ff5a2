"""Worlds and societies, synchronously: each verb is that of :class:`AsyncWorlds`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from graphmem.async_worlds import AsyncWorlds, Stepped
from graphmem.models.places import Place, World
from graphmem.models.society import Replay, Simulation, SimulationReport
from graphmem.threads import documented_by

if TYPE_CHECKING:
    from graphmem.threads import Portal


@documented_by(AsyncWorlds)
class Worlds:
    """Worlds and societies, synchronously: see :class:`graphmem.memory.Memory`."""

    _worlds: AsyncWorlds
    _portal: Portal

    def build_world(self, world: World | Mapping[str, Any], *, now: object = None) -> tuple[Place, ...]:
        """See :meth:`AsyncWorlds.build_world`."""
        return self._portal.call(partial(self._worlds.build_world, world, now=now))

    def world(self, name: str) -> tuple[Place, ...]:
        """See :meth:`AsyncWorlds.world`."""
        return self._portal.call(partial(self._worlds.world, name))

    def simulate(
        self,
        simulation: Simulation | Mapping[str, Any],
        *,
        progress: Stepped | None = None,
    ) -> SimulationReport:
        """See :meth:`AsyncWorlds.simulate`."""
        return self._portal.call(partial(self._worlds.simulate, simulation, progress=progress))

    def simulations(self) -> tuple[Simulation, ...]:
        """See :meth:`AsyncWorlds.simulations`."""
        return self._portal.call(self._worlds.simulations)

    def replay(self, simulation: str) -> Replay:
        """See :meth:`AsyncWorlds.replay`."""
        return self._portal.call(partial(self._worlds.replay, simulation))
