"""A simulation in a process of its own, to be killed: ``python live.py NAME STEPS MINUTES`` tells each step."""

from __future__ import annotations

import os
import sys
from datetime import datetime

from graphmem import Memory
from graphmem.interfaces.society import default_society, load_society, prepare
from graphmem.models.society import Simulation
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder


class Quick(HashingEmbedder):
    """Stands in for the default model under its name, as in conftest.py."""

    def __init__(self) -> None:
        super().__init__(384)

    @property
    def name(self) -> str:
        return "bge-small-en-v1.5"


def told(done: int, _steps: int, _at: datetime) -> None:
    sys.stdout.write(f"{done}\n")
    sys.stdout.flush()


def main(name: str, steps: int, minutes: int) -> None:
    settings = Settings(uri=os.environ["URI"], user=os.environ["USER_NAME"], password=os.environ["PASSWORD"])  # type: ignore[arg-type]
    with Memory.open(settings=settings, embedder=Quick()) as memory:
        society = load_society(default_society())
        agents = prepare(memory, society, name, start=society.start)
        simulation = Simulation(name=name, agents=agents, start=society.start, minutes=minutes, steps=steps)
        memory.simulate(simulation, progress=told)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
