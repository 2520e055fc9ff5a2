"""What a store's handle does with several agents at once: worlds, and societies that live in them. One line a verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from graphmem.cognition import places as placing
from graphmem.cognition import replay, society
from graphmem.cognition.engine import Engine
from graphmem.models.places import Place, World
from graphmem.models.society import Replay, Simulation, SimulationReport
from graphmem.tracing import traced

Stepped = Callable[[int, int, datetime], None]
"""Told how many steps were simulated, of how many, and the moment that was reached."""


@traced
class AsyncWorlds:
    """Worlds and societies: see :class:`graphmem.memory.AsyncMemory`."""

    _engine: Engine

    async def build_world(self, world: World | Mapping[str, Any], *, now: object = None) -> tuple[Place, ...]:
        """Build a world of places, or add to it; what is there keeps its state. Returns the world as it is now.

        Raises:
            InvalidInput: When a value is refused; nothing was written.
        """
        return await placing.build_world(self._engine, world, now=now)

    async def world(self, name: str) -> tuple[Place, ...]:
        """A world as it is, from the top down; empty where there is none of that name."""
        return await placing.world_of(self._engine, name)

    async def simulate(
        self,
        simulation: Simulation | Mapping[str, Any],
        *,
        progress: Stepped | None = None,
    ) -> SimulationReport:
        """Have agents live together in simulated time, step by step; cut off anywhere, the same call goes on.

        In each step every agent perceives, reacts, talks, acts and reflects. They must have a home in a world
        (``build_world``, ``agent.settle``). ``progress`` gets the steps done, how many there are, and the moment.

        Raises:
            InvalidInput, UnknownAgent: When it is refused; nothing was simulated.
            LanguageModelError, EmbeddingError: What was simulated before stays, and the same call goes on.
        """
        given, before, failures = await society.run(self._engine, simulation, progress=progress)
        return await replay.report(self._engine, given.name, before=before, failures=failures)

    async def simulations(self) -> tuple[Simulation, ...]:
        """All simulations, by name."""
        return await replay.simulations(self._engine)

    async def replay(self, simulation: str) -> Replay:
        """A simulation as it was lived, by its name: who was where, said and planned what, and on what grounds.

        Raises:
            InvalidInput: When there is none of that name.
        """
        return await replay.replay(self._engine, simulation)
