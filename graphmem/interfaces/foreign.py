"""Memories of other programs as imports: mem0, Letta's agent files, episodes of Zep and Graphiti; docs/export.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from graphmem.clock import as_utc
from graphmem.errors import InvalidInput, InvalidTime
from graphmem.interfaces.files import read_text
from graphmem.models import AgentConfig, AgentImport, ImportedObservation, validated
from graphmem.models.values import Id, Value

Format = Literal["mem0", "letta", "zep"]
Object = Mapping[str, Any]


class _Owner(Value):
    """Whose a memory is: an agent that there can be."""

    agent: Id


@dataclass
class Foreign:
    """One agent of a file, and what of it could not be taken over."""

    agent_id: str
    items: dict[str, ImportedObservation] = field(default_factory=dict[str, ImportedObservation])
    """By id."""
    config: AgentConfig = field(default_factory=AgentConfig)
    left_out: list[str] = field(default_factory=list[str])
    """Each with where it stands and why."""

    def add(self, where: str, given: Object) -> None:
        """Take a memory over, or note why not; the same id again is a memory that is there."""
        try:
            item = validated(ImportedObservation, {name: value for name, value in given.items() if value is not None})
        except InvalidInput as error:
            self.left_out.append(f"{where}: {error}")
            return
        if self.items.setdefault(item.id, item) != item:
            self.left_out.append(f"{where}: the id {item.id!r} stands there with other content before")


def read_foreign(
    file: Path, format: Format, *, agent: str | None = None, prefix: str = ""
) -> list[tuple[Foreign, AgentImport]]:
    """Read a file of another program: what becomes of each agent.

    Args:
        file: JSON, read whole: these formats are one document.
        format: Whose it is. ``mem0``: what ``get_all`` gives, for each ``user_id``. ``letta``: an agent file, ``.af``.
            ``zep``: episodes of Zep, or of Graphiti, for each ``group_id``.
        agent: The id of the agent whose memories do not say whose they are.
        prefix: Put before each agent's id.

    Raises:
        InvalidInput: When the file cannot be read, is of another format, or names an agent that there cannot be.
    """
    text = read_text(file)
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{file} is not JSON: {error}", remedy="name the file as the other program wrote it"
        ) from error
    found: dict[str, Foreign] = {}
    readers = {"mem0": _mem0, "letta": _letta, "zep": _zep}
    for owner, where, given in readers[format](data, found):
        id_ = owner or agent
        if id_ is None:
            raise InvalidInput(f"{where} does not say whose it is", remedy="name the agent with --agent")
        found.setdefault(id_, Foreign(id_)).add(where, given)
    origin = hashlib.sha256(text.encode()).hexdigest()
    made: list[tuple[Foreign, AgentImport]] = []
    for person in found.values():
        person.agent_id = validated(_Owner, {"agent": f"{prefix}{person.agent_id}"}).agent
        items = tuple(sorted(person.items.values(), key=lambda item: (item.occurred_at, item.id)))
        made.append((person, AgentImport(origin=origin, config=person.config, memories=items)))
    return made


Read = Iterator[tuple[str | None, str, Object]]
"""Whose it is, where it stands, and what it becomes."""


def _mem0(data: Any, found: dict[str, Foreign]) -> Read:
    """Memories as ``get_all`` gives them, and the relations of mem0's former graph memory, which have no dates."""
    results = _list(data, "results", "memories")
    for number, item in enumerate(results, start=1):
        yield (
            _owner(item, "user_id", "agent_id", "run_id"),
            f"memory {number}",
            {
                "id": item.get("id"),
                "text": item.get("memory"),
                "kind": "fact",
                "occurred_at": item.get("created_at"),
                "session": item.get("run_id"),
                "file_rest": _rest(item, "metadata", "categories", "updated_at", "hash"),
            },
        )
    relations = cast("Any", data).get("relations") if isinstance(data, dict) else None
    newest = _newest(results)
    for number, item in enumerate(_objects(relations), start=1):
        source, relation = item.get("source"), item.get("relationship")
        target = item.get("target", item.get("destination"))
        told = all(isinstance(part, str) for part in (source, relation, target))
        text = f"{source} {relation} {target}".replace("_", " ") if told else None
        yield (
            _owner(item, "user_id") or (_owner(results[0], "user_id") if results else None),
            f"relation {number}",
            {
                "id": text and f"relation-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:24]}",
                "text": text,
                "kind": "fact",
                "occurred_at": newest,
                "subject": source,
                "predicate": relation,
                "object": target,
                "file_rest": json.dumps({"occurred_at": "not in the file: that of its newest memory"}),
            },
        )


def _letta(data: Any, found: dict[str, Foreign]) -> Read:
    """Messages of users and assistants, and memory blocks, which have no dates: those of the newest message."""
    blocks = {item["id"]: item for item in _list(data, "blocks") if isinstance(item.get("id"), str)}
    for agent in _list(data, "agents"):
        name = agent.get("name")
        if not isinstance(name, str):
            raise InvalidInput("an agent of the file has no name", remedy="name a file that Letta exported")
        found[name] = Foreign(name, config=validated(AgentConfig, {"name": name, "time_zone": agent.get("timezone")}))
        messages = _objects(agent.get("messages"))
        for number, message in enumerate(messages, start=1):
            if message.get("role") in ("user", "assistant") and (text := _spoken(message.get("content"))):
                yield (
                    name,
                    f"message {number} of {name}",
                    {
                        "id": message.get("id"),
                        "text": text,
                        "kind": "utterance",
                        "source": message.get("name") or message.get("role"),
                        "occurred_at": message.get("created_at"),
                        "session": message.get("group_id"),
                    },
                )
        newest = _newest(messages)
        for id_ in _texts(agent.get("block_ids")):
            block = blocks.get(id_, {})
            if str(block.get("value") or "").strip():
                yield (
                    name,
                    f"block {id_} of {name}",
                    {
                        "id": id_,
                        "text": block["value"],
                        "kind": "fact",
                        "source": block.get("label"),
                        "occurred_at": newest,
                        "file_rest": json.dumps({"occurred_at": "not in the file: that of the newest message"}),
                    },
                )


def _zep(data: Any, found: dict[str, Foreign]) -> Read:
    """Episodes: what was ingested, word by word. When it happened counts before when it was stored."""
    for number, item in enumerate(_list(data, "episodes"), start=1):
        spoken = item.get("source") == "message"
        yield (
            _owner(item, "group_id", "graph_id", "user_id"),
            f"episode {number}",
            {
                "id": item.get("uuid"),
                "text": item.get("content"),
                "kind": "utterance" if spoken else "event",
                "source": item.get("role") if spoken else item.get("source_description"),
                "session": item.get("thread_id") or item.get("session_id"),
                "occurred_at": item.get("valid_at") or item.get("created_at"),
                "file_rest": _rest(item, "name", "created_at", "source_description", "metadata"),
            },
        )


def _list(data: Any, *names: str) -> list[Object]:
    """The list of objects under one of these names, or the document itself."""
    given: Any = data
    if isinstance(data, dict):
        document = cast("dict[str, Any]", data)
        given = next((document[name] for name in names if name in document), None)
    if not isinstance(given, list):
        raise InvalidInput(f"the file has no list of {names[0]}", remedy="name the format that it is of with --format")
    return _objects(cast("list[Any]", given))


def _objects(given: Any) -> list[Object]:
    items = cast("list[Any]", given) if isinstance(given, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _texts(given: Any) -> list[str]:
    items = cast("list[Any]", given) if isinstance(given, list) else []
    return [item for item in items if isinstance(item, str)]


def _newest(items: Sequence[Object]) -> datetime | None:
    """The latest date that can be read; one that cannot is told of where its own memory is left out."""
    found: list[datetime] = []
    for item in items:
        with suppress(InvalidTime):
            found.append(as_utc(item.get("created_at")))
    return max(found, default=None)


def _owner(item: Object, *names: str) -> str | None:
    return next((item[name] for name in names if isinstance(item.get(name), str) and item[name].strip()), None)


def _rest(item: Object, *names: str) -> str | None:
    kept = {name: item[name] for name in names if item.get(name) not in (None, [], {}, "")}
    return json.dumps(kept, ensure_ascii=False) if kept else None


def _spoken(content: Any) -> str:
    """The text of a message: a text, or parts of which some are texts."""
    if isinstance(content, str):
        return content.strip()
    parts = [part.get("text") for part in _objects(content) if part.get("type") == "text"]
    return "\n".join(part for part in cast("Sequence[Any]", parts) if isinstance(part, str)).strip()
