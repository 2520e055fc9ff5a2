"""Saved simulations of Generative Agents, read from their files (docs/simulations.md); nothing here is stored."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

from graphmem.errors import InvalidInput
from graphmem.interfaces.simulation.files import FORMAT
from graphmem.interfaces.simulation.original import is_original, read_original
from graphmem.interfaces.simulation.person import RULES, Person
from graphmem.interfaces.simulation.stream import read_stream, streams_in

__all__ = ["RULES", "Person", "read_simulation"]


def read_simulation(folder: Path, *, time_zone: str = "UTC", prefix: str = "") -> list[Person]:
    """Read a save in either format; every file is read and checked before anybody is returned.

    Args:
        folder: A save of the published code, or an agent or a folder of agents in the later format.
        time_zone: In which the times of the files, which name none, are read.
        prefix: What stands before each person's name in the agent's id.

    Raises:
        InvalidInput: When it is no save, or a file cannot be read; names the file, and the place in it.
    """
    zone = ZoneInfo(time_zone)
    try:
        if is_original(folder):
            people = read_original(folder, zone, prefix)
        else:
            people = [read_stream(path, zone, prefix) for path in streams_in(folder)]
    except OSError as error:
        raise InvalidInput(f"{error.filename or folder}: cannot be read: {error.strerror}", remedy=FORMAT) from error
    if not people:
        raise InvalidInput(
            f"{folder}: is no saved simulation: it holds neither personas/ nor memory_stream/nodes.json", remedy=FORMAT
        )
    names = [person.name for person in people]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"{folder}: two people are called {twice[0]!r}", remedy="import them one by one")
    return people
