"""A saved simulation of two people by a lake, imported, in which one learns that something deep below was otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from simulations import LOOKED_FORWARD, write_simulation

from graphmem import Agent, Memory
from graphmem.interfaces.simulation import read_simulation
from graphmem.models import ChangeReport, RecomputeReport


@dataclass(frozen=True)
class Lake:
    """The two, and what to look at."""

    nadia: Agent
    emil: Agent
    top: str
    """Nadia's deepest thought, ten levels above what she saw."""
    seen: str
    """The event at the bottom of it."""

    def learn(self) -> ChangeReport:
        """Nadia learns better about the event."""
        return self.nadia.supersede(
            self.seen, text="Nadia Sorel is cutting paper for a kite", reason="asked what the paper was for"
        )

    def recompute(self) -> RecomputeReport:
        """Nadia thinks again about all that rested on it."""
        return self.nadia.recompute()


def make_lake(memory: Memory, folder: Path) -> Lake:
    """Write the save to a folder that is not there yet, and import it under names of its own."""
    prefix = f"lake-{uuid4().hex[:6]} "
    write_simulation(folder)
    agents: dict[str, Agent] = {}
    people = read_simulation(folder, prefix=prefix)
    for person in [*people, *people]:  # twice: what was heard is joined with what was said once both are there
        agents[person.name] = memory.agent(person.agent_id)
        agents[person.name].import_memories(person.snapshot)
    nadia, emil = agents["Nadia Sorel"], agents["Emil Brandt"]
    thoughts = [
        found for found in nadia.memories(type="reflection", limit=1000) if found.text.startswith(LOOKED_FORWARD)
    ]
    top = max(thoughts, key=lambda found: found.depth)
    (seen,) = (found for found in nadia.memories(type="observation", limit=1000) if "cutting paper" in found.text)
    return Lake(nadia, emil, top.id, seen.id)
