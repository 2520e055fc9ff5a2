"""Simulates a small society, or goes on with it, and prints what came of it as JSON. Usage: simulator.py STEPS."""

from __future__ import annotations

import sys

from graphmem import Memory
from graphmem.interfaces.society import default_society, load_society, prepare
from graphmem.models.society import Simulation
from graphmem.settings import load_settings
from graphmem.testing import HashingEmbedder


def main() -> None:
    society = load_society(default_society())
    with Memory.open(settings=load_settings(), embedder=HashingEmbedder(16)) as memory:
        agents = prepare(memory, society, society.name, start=society.start)
        simulation = Simulation(
            name=society.name, agents=agents[:3], start=society.start, minutes=30, steps=int(sys.argv[1])
        )
        report = memory.simulate(simulation)
        wrong = [str(found) for agent in agents for found in memory.agent(agent).check()]
    told = report.model_dump_json(include={"done", "people", "failures"})
    sys.stdout.write(f'{{"report": {told}, "wrong": {len(wrong)}}}')
    sys.stderr.write("\n".join(wrong))


if __name__ == "__main__":
    main()
