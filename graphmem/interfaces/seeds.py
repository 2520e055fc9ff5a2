"""Stories as files: agents, their days and changes of belief, read from a folder (``seeds/README.md``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, Field, field_validator

from graphmem.clock import UtcTime
from graphmem.errors import InvalidInput
from graphmem.interfaces import toml
from graphmem.interfaces.files import checked_folder, opened, read_text
from graphmem.interfaces.jsonlines import read_lines
from graphmem.models import MAX_K, AgentConfig, Id, Mode, NewObservation, Text, Value, validated


def default_folder() -> Path:
    """The stories that come with graphmem: in the wheel, or in the checkout of an editable install."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "_seeds"
    return shipped if shipped.is_dir() else package.parent / "seeds"


WORLD = "world.toml"
"""A folder that holds one is a society (:mod:`graphmem.interfaces.society`), not an agent."""
FORMAT = f"{default_folder() / 'README.md'} describes the files"


class Day(Value):
    """One file of observations, in the order of its lines."""

    name: str
    """The file's name without its ending, e.g. ``day-1``."""
    observations: tuple[NewObservation, ...] = Field(min_length=1)

    @property
    def ends(self) -> datetime:
        """When the last thing of the day happened; the agent looks back on it then."""
        return max(item.occurred_at for item in self.observations if item.occurred_at is not None)


class AgentSeed(Value):
    """An agent and its days, in order."""

    id: Id
    """The name of its folder."""
    config: AgentConfig
    days: tuple[Day, ...] = Field(min_length=1)

    @property
    def name(self) -> str:
        """What to call the agent."""
        return self.config.name or self.id

    @property
    def observations(self) -> dict[str, NewObservation]:
        """All observations, by id."""
        return {item.id: item for day in self.days for item in day.observations if item.id is not None}


class Ask(Value):
    """A question to retrieve by."""

    agent: Id
    query: Text
    k: int = Field(default=5, ge=1, le=MAX_K)
    at: UtcTime
    """When it is asked; recency is counted back from here."""


class Change(Value):
    """A memory that turns out wrong or outdated, and the text that replaces it."""

    agent: Id
    memory: Id
    text: Text
    mode: Mode = "correction"
    reason: Text
    at: UtcTime

    @field_validator("reason")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if "\n" in value:
            raise ValueError("is longer than a line")
        return value


class Seeds(Value):
    """What a folder of stories holds."""

    folder: Path
    agents: tuple[AgentSeed, ...] = Field(min_length=1)
    """In the order of their folders' names."""
    asks: tuple[Ask, ...] = ()
    changes: tuple[Change, ...] = ()
    """In the order of the file."""


def load_seeds(folder: Path) -> Seeds:
    """Read a folder of stories: a folder an agent (``agent.toml``, ``day-*.jsonl``), and ``changes.toml``.

    Raises:
        InvalidInput: When the folder or a file is not as ``seeds/README.md`` has it; names file and line.
    """
    try:
        return _read_folder(folder)
    except OSError as error:
        raise InvalidInput(f"{error.filename or folder}: cannot be read: {error.strerror}") from error


def _read_folder(folder: Path) -> Seeds:
    checked_folder(folder)
    homes = sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() and not path.name.startswith((".", "_")) and not (path / WORLD).is_file()
    )
    if not homes:
        raise InvalidInput(f"{folder}: holds no folder of an agent", remedy=FORMAT)
    agents = tuple(load_agent(home) for home in homes)
    asks, changes = _read_changes(folder / "changes.toml", agents)
    return Seeds(folder=folder, agents=agents, asks=asks, changes=changes)


def load_agent(home: Path) -> AgentSeed:
    """Read one agent's folder.

    Raises:
        InvalidInput: When a file is not as ``seeds/README.md`` has it; names file and line.
    """
    file = home / "agent.toml"
    config = toml.value(AgentConfig, read_toml(file), file=file, remedy=FORMAT)
    files = sorted(home.glob("day-*.jsonl"), key=_natural)
    if not files:
        raise InvalidInput(f"{home}: holds no day-1.jsonl", remedy=FORMAT)
    days: list[Day] = []
    where: dict[str | None, str] = {}
    for path in files:
        observations = _read_day(path)
        for at, observation in observations:
            first = where.setdefault(observation.id, at)
            if first != at:
                raise InvalidInput(f"{at}: id: {observation.id!r} is taken by {first}")
        days.append(Day(name=path.stem, observations=tuple(item for _, item in observations)))
    return AgentSeed(id=home.name, config=config, days=tuple(days))


def _read_day(file: Path) -> list[tuple[str, NewObservation]]:
    """The observations of a day, each with its place in the file."""
    observations: list[tuple[str, NewObservation]] = []
    with opened(file) as stream:
        try:
            lines = list(read_lines(stream))
        except InvalidInput as error:
            raise InvalidInput(f"{file}: {error}", remedy=error.remedy) from error
    for line in lines:
        at = f"{file}:{line.number}"
        if line.item is None:
            raise InvalidInput(f"{at}: {line.refusal}", remedy=FORMAT)
        if line.item.occurred_at is None:
            raise InvalidInput(f"{at}: occurred_at: is missing", remedy=FORMAT)
        observations.append((at, line.item))
    if not observations:
        raise InvalidInput(f"{file}: holds no observation", remedy=FORMAT)
    return observations


def _read_changes(file: Path, agents: tuple[AgentSeed, ...]) -> tuple[tuple[Ask, ...], tuple[Change, ...]]:
    if not file.is_file():
        return (), ()
    data = read_toml(file)
    if unknown := sorted(set(data) - {"ask", "change"}):
        raise InvalidInput(f"{file}: {unknown[0]}: is neither [[ask]] nor [[change]]", remedy=FORMAT)
    asks = _entries(file, "ask", Ask, data)
    changes = _entries(file, "change", Change, data)
    known = {agent.id: agent.observations for agent in agents}
    for at, entry in (*asks, *changes):
        if entry.agent not in known:
            raise InvalidInput(f"{at}: agent: there is no folder {entry.agent!r} beside this file")
    taken: dict[tuple[str, str], str] = {}
    for at, change in changes:
        if change.memory not in known[change.agent]:
            raise InvalidInput(f"{at}: memory: {change.agent} has no observation {change.memory!r}")
        first = taken.setdefault((change.agent, change.memory), at)
        if first != at:
            raise InvalidInput(f"{at}: memory: {change.memory!r} is superseded by {first} already")
    return tuple(ask for _, ask in asks), tuple(change for _, change in changes)


E = TypeVar("E", Ask, Change)
M = TypeVar("M", bound=BaseModel)


def _entries(file: Path, name: str, model: type[E], data: Mapping[str, Any]) -> list[tuple[str, E]]:
    """The entries of a TOML array of tables, each with the line where it begins."""
    entries: Any = data.get(name, [])
    if not isinstance(entries, list):
        raise InvalidInput(f"{file}: {name}: write [[{name}]], in double brackets", remedy=FORMAT)
    listed = cast("list[object]", entries)
    headers = toml.headers(read_text(file).splitlines(), name)
    found: list[tuple[str, E]] = []
    for index, entry in enumerate(listed):
        at = f"{file}:{headers[index]}" if index < len(headers) else f"{file}: {name} {index + 1}"
        found.append((at, value(model, entry, at=at)))
    return found


def value(model: type[M], data: object, *, at: str) -> M:
    """A value of what a file holds.

    Raises:
        InvalidInput: When it is refused; names the place in the file.
    """
    if not isinstance(data, dict):
        raise InvalidInput(f"{at}: is {type(data).__name__}, not an object of fields", remedy=FORMAT)
    try:
        return validated(model, cast("dict[str, Any]", data))
    except InvalidInput as error:
        raise InvalidInput(f"{at}: {error}", remedy=error.remedy or FORMAT) from error


def read_toml(file: Path) -> dict[str, Any]:
    """What a TOML file holds.

    Raises:
        InvalidFile: When it cannot be read.
        InvalidInput: When it is not TOML.
    """
    text = read_text(file, empty=True)  # Nothing set is something.
    return toml.parse(file, text, remedy=FORMAT)


def _natural(path: Path) -> tuple[tuple[int, int | str], ...]:
    """Sorts day-10 after day-9."""
    parts = re.split(r"(\d+)", path.name)
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in parts)
